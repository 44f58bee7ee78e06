import type { Log } from '../observe/log.ts';
import type { RedisDiagnosis, RedisFault } from '../ports/redis-diagnosis.ts';

interface RedisWatch {
  /** Why Redis cannot be used; undefined while it can, and until that is known. */
  fault(): RedisFault | undefined;
  stop(): void;
}

interface RedisWatchOptions {
  /** What it is called in the log. */
  readonly name?: string;
  readonly diagnose: () => Promise<RedisDiagnosis>;
  readonly isUsable: () => Promise<boolean>;
  readonly log: Log;
  /** Time between two looks, in ms. */
  readonly everyMs?: number;
}

const EVERY_MS = 5_000;

/** Says in the log why Redis cannot be used and what to do, once for each cause, and when it can be used again. */
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
 * Judges a Redis that can be used by what it says of itself. Throws when it is too old for Parley. Warns where it removes
 * keys when its memory is full: open questions or credentials would be among them.
 */
export function checkRedis({ address, fault, evictionPolicy }: RedisDiagnosis, log: Log): void {
  if (fault?.code === 'too_old') throw new Error(fault.text);
  if (evictionPolicy === undefined || evictionPolicy === 'noeviction') return;
  log.warn(
    { evictionPolicy },
    `${address} removes keys when its memory is full, open questions too. Set its maxmemory-policy to noeviction.`,
  );
}
