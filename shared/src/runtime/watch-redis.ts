import type { Log } from '../observe/log.ts';
import type { RedisDiagnosis, RedisFault } from '../ports/redis-diagnosis.ts';

interface RedisWatch {
  /** Why Redis cannot be used; undefined while it can be used, or the reason is not known yet. */
  fault(): RedisFault | undefined;
  stop(): void;
}

interface RedisWatchOptions {
  /** The name of this Redis in the log. */
  readonly name?: string;
  readonly diagnose: () => Promise<RedisDiagnosis>;
  readonly isUsable: () => Promise<boolean>;
  readonly log: Log;
  /** The time between two checks, in ms. */
  readonly everyMs?: number;
}

const EVERY_MS = 5_000;

/** Logs why Redis cannot be used and what to do, once for each cause, and logs when it can be used again. */
export function watchRedis({
  name = 'Redis',
  diagnose,
  isUsable,
  log,
  everyMs = EVERY_MS,
}: RedisWatchOptions): RedisWatch {
  let known: RedisFault | undefined;
  let isLooking = false;

  async function look(): Promise<void> {
    if (await isUsable()) {
      if (known !== undefined) log.info(`${name} can be used again`);
      known = undefined;
      return;
    }
    const { address, fault } = await diagnose();
    // Redis may have become usable while the diagnosis ran.
    if (fault === undefined && (await isUsable())) return;
    const found = fault ?? {
      code: 'other',
      text: `${address} answers, and this process cannot use it. Its user may lack rights.`,
    };
    if (found.text === known?.text) return;
    known = found;
    log.warn({ reason: found.code }, `${name} cannot be used: ${found.text}`);
  }

  const looking = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch((error: unknown) =>
        log.warn({ err: error }, `it could not be found out why ${name} cannot be used`),
      )
      .finally(() => {
        isLooking = false;
      });
  }, everyMs).unref();
  return { fault: () => known, stop: () => clearInterval(looking) };
}

/**
 * Checks the properties of a usable Redis. Throws when it is too old for Parley. Warns when its eviction policy removes keys
 * from a full memory, because these may be open questions or credentials.
 */
export function checkRedis({ address, fault, evictionPolicy }: RedisDiagnosis, log: Log): void {
  if (fault?.code === 'too_old') throw new Error(fault.text);
  if (evictionPolicy === undefined || evictionPolicy === 'noeviction') return;
  log.warn(
    { evictionPolicy },
    `${address} removes keys when its memory is full, open questions too. Set its maxmemory-policy to noeviction.`,
  );
}
