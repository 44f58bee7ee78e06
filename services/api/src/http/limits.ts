import { randomUUID } from 'node:crypto';
import { ParleyError } from '@parley/shared/domain/errors';
import { bucketOfElicitationId, type Owner } from '@parley/shared/domain/ids';
import type { Caller } from '@parley/shared/elicitations/caller';
import { releaseOnAbort } from '@parley/shared/elicitations/release-on-abort';
import type { Limits } from '@parley/shared/ports/limits';
import type { LimitName } from '@parley/shared/runtime/metrics';
import type { RouteCall } from './route.ts';

/** Budgets of callers, kept over all pods. Each throws `rate_limited` with a time to try again. */
export interface CallLimits {
  /** One call of this caller: a service call, or a user's write. */
  call(caller: Caller, writes: boolean): Promise<void>;
  /** One answer of one caller to one elicitation. */
  answer(owner: Owner, elicitationId: string): Promise<void>;
  /** Takes and keeps a place for one event stream of a user; the returned function releases it. */
  stream(caller: Caller, place: string): Promise<() => void>;
}

export interface CallLimitSettings {
  readonly userWrites: number;
  readonly userStreams: number;
  readonly elicitationAnswers: number;
  readonly serviceCalls: number;
}

const WINDOW_SECONDS = 10;
const PLACE_MS = 45_000;
const RENEW_MS = 15_000;
/** A service key has its budget under a name that no user can have. */
const SERVICE_USER = '\u0000service';

/** Makes the budgets. `onRefused` is called with the limit that a caller has reached. */
export function createCallLimits(
  limits: Limits,
  settings: CallLimitSettings,
  onRefused: (limit: LimitName) => void,
): CallLimits {
  async function take(limit: LimitName, subject: Owner, points: number, of = ''): Promise<void> {
    const verdict = await limits.take(`${limit}${of}`, subject, { points, windowSeconds: WINDOW_SECONDS });
    if (verdict.allowed) return;
    onRefused(limit);
    throw new ParleyError('rate_limited', 'Too many requests; wait and try again.', {
      retryAfterSeconds: verdict.retryAfterSeconds,
    });
  }

  return {
    async call(caller, writes) {
      if (caller.kind === 'service') {
        const userId = `${SERVICE_USER}:${caller.keyId ?? ''}`;
        await take('service-calls', { tenant: caller.tenant, userId }, settings.serviceCalls);
      } else if (writes) {
        await take('user-writes', caller, settings.userWrites);
      }
    },
    answer: (owner, elicitationId) =>
      take('answers', owner, settings.elicitationAnswers, `:${elicitationId}`),
    async stream(caller, place) {
      if (caller.kind === 'service') return () => undefined;
      const hold = () => limits.hold('streams', caller, place, settings.userStreams, PLACE_MS);
      if (!(await hold())) {
        onRefused('streams');
        throw new ParleyError('rate_limited', 'This user has too many open event streams; close one.', {
          retryAfterSeconds: WINDOW_SECONDS,
        });
      }
      const renewal = setInterval(() => hold().catch(() => undefined), RENEW_MS).unref();
      return () => {
        clearInterval(renewal);
        limits.release('streams', caller, place).catch(() => undefined);
      };
    },
  };
}

/** Resolves when a caller may answer: the budget of the call, and that of the elicitation. Throws `rate_limited`. */
export async function admitAnswer(
  limits: Pick<CallLimits, 'answer'>,
  { caller, admitted }: Pick<RouteCall, 'caller' | 'admitted'>,
  elicitationId: string,
): Promise<void> {
  // An id that cannot exist has no budget: its name, however long, must not reach Redis.
  const exists = bucketOfElicitationId(elicitationId) !== undefined;
  await Promise.all([admitted, exists && caller.kind === 'user' && limits.answer(caller, elicitationId)]);
}

/**
 * Takes a place for an event stream, and opens it. Releases the place when `open` fails, when the stream calls
 * `release`, and when the caller disconnects, also before the first event.
 */
export async function inStreamPlace<Opened>(
  limits: Pick<CallLimits, 'stream'>,
  { caller, signal }: Pick<RouteCall, 'caller' | 'signal'>,
  open: (release: () => void) => Promise<Opened>,
): Promise<Opened> {
  const release = releaseOnAbort(signal, await limits.stream(caller, randomUUID()));
  try {
    return await open(release);
  } catch (error) {
    release();
    throw error;
  }
}
