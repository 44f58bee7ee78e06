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
  /** Why the main Redis cannot be used; undefined if no reason is known. The vault's own Redis does not count. */
  fault(): RedisFault | undefined;
  /** Checks each Redis by its own report. Throws if one is too old. */
  check(): Promise<void>;
  stop(): void;
}

/** Watches the pod's Redis, and the vault's own if there is one. Without Redis there is nothing to watch. */
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
