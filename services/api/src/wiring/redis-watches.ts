import type { Env } from '@parley/shared/config/env';
import { ownVaultLocation, redisLocation } from '@parley/shared/config/redis-env';
import type { Log } from '@parley/shared/observe/log';
import type { Backend } from '@parley/shared/ports/backend';
import type { RedisDiagnosis, RedisFault } from '@parley/shared/ports/redis-diagnosis';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { checkRedis, watchRedis } from '@parley/shared/runtime/watch-redis';

interface RedisWatchesDeps {
  readonly env: Env;
  readonly backend: Backend;
  readonly isReady: () => Promise<boolean>;
  readonly diagnose: (location: RedisLocation, options?: { isVault: boolean }) => Promise<RedisDiagnosis>;
  readonly log: Log;
}

export interface RedisWatches {
  /** Why the Redis that everything but credentials needs cannot be used, as far as it is known. */
  fault(): RedisFault | undefined;
  /** Judges each Redis by what it says of itself. Throws when one is too old. */
  check(): Promise<void>;
  stop(): void;
}

/** Watches the Redis of a pod, and that of the vault's own. Without Redis there is nothing to watch. */
export function watchEveryRedis({
  env,
  backend,
  isReady,
  diagnose,
  log,
}: RedisWatchesDeps): RedisWatches | undefined {
  const [location, vault] = [redisLocation(env), ownVaultLocation(env)];
  if (location === undefined) return undefined;
  const looks = [
    {
      name: 'Redis',
      diagnose: () => diagnose(location),
      isUsable: isReady,
    },
    ...(vault === undefined
      ? []
      : [
          {
            name: 'The Redis of the vault',
            diagnose: () => diagnose(vault, { isVault: true }),
            isUsable: async () => (await backend.health()).vault === true,
          },
        ]),
  ];
  const watches = looks.map((look) => watchRedis({ ...look, log }));
  return {
    fault: () => watches[0]?.fault(),
    async check() {
      for (const found of await Promise.all(looks.map((look) => look.diagnose()))) checkRedis(found, log);
    },
    stop() {
      for (const watch of watches) watch.stop();
    },
  };
}
