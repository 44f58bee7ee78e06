/**
 * Counts calls, bytes and answers against the budgets of callers. Places for streams are in `stream-places.ts`, storage is
 * behind the port `limits`.
 */

import { ParleyError } from '@parley/core/domain/errors';
import { bucketOfRecordId, type Owner } from '@parley/core/domain/ids';
import { type Caller, operatorOf } from '@parley/shared/domain/caller';
import type { LimitName } from '@parley/shared/observe/metrics/metric-labels';
import type { Rate } from '@parley/shared/ports/limits';
import type { RouteCall } from '../route.ts';
import {
  createStreamPlaces,
  listOpenStreams,
  type StreamPlaceDeps,
  type TakeStreamPlace,
} from './stream-places.ts';

/** Budgets of callers, shared by all pods. Each method throws `rate_limited` with a time to try again. */
export interface CallLimits {
  /**
   * Counts one call: a call of a service key or an operator, or a user's write or read. `answers` is the id of the elicitation
   * or approval that the call answers; one answer to it is then counted as well.
   */
  call(caller: Caller, writes: boolean, answers?: string): Promise<void>;
  /**
   * Counts the opening of one event stream, as a read. A service key has a separate budget for openings, of the same size as
   * that of its calls. So it can still ask when readers return after a pod has died.
   */
  opening(caller: Caller): Promise<void>;
  /**
   * Counts bytes that a caller was sent. Returns the seconds to wait before more are sent; 0 while the budget lasts. The reply
   * that exceeds the budget is sent completely, and later reads are refused with `read_quota`.
   */
  sent(caller: Caller, bytes: number): Promise<number>;
  /**
   * Counts a request body of `bytes` that is about to be read. Small bodies are free, because their call is counted. Throws
   * `rate_limited` before a large body is read, because reading and parsing it would be the most expensive part.
   */
  body(caller: Caller, bytes: number): Promise<void>;
  /** Counts one answer of a caller to an elicitation, or one decision on an approval. */
  answer(owner: Owner, id: string): Promise<void>;
  /** Takes a place for one event stream. */
  readonly stream: TakeStreamPlace;
  /** The names of a user's open event streams on all pods. Throws `unavailable`. */
  streamsOf(user: Owner): Promise<readonly string[]>;
}

export interface CallLimitSettings {
  readonly userWrites: number;
  readonly userStreams: number;
  readonly elicitationAnswers: number;
  readonly serviceCalls: number;
  readonly userReads: number;
  readonly userReadBytes: number;
  readonly userWriteBytes: number;
  readonly serviceWriteBytes: number;
  readonly serviceReadBytes: number;
  readonly tenantReads: number;
  readonly operatorCalls: number;
}

const WINDOW_SECONDS = 10;
/** The limits for which a user has a budget or places. */
export const USER_LIMITS = [
  'user-writes',
  'user-reads',
  'user-read-bytes',
  'user-write-bytes',
  'streams',
] as const satisfies readonly LimitName[];

/** The name of the limit on answers to one elicitation, or on decisions on one approval. */
export function answerLimitOf(id: string): string {
  return `answers:${id}`;
}

/** The name for the budget of a service key, which no user can have. */
const SERVICE_USER = '\u0000service';
/** The name for the budget of a whole tenant, which no user can have. */
const TENANT_USER = '\u0000tenant';
// Bytes are counted in points of this size. A smaller reply costs no more than its request.
const POINT_BYTES = 1024;
// Bodies below this size cost little more than their call.
const LARGE_BODY_BYTES = 16 * 1024;
// Each point taken in advance admits a read of any size after the budget is used up.
const BYTE_POINTS_AHEAD = 4;
// Pods take this share of a budget in advance, so that a read does not cost another round trip.
const READ_BATCHES = 50;

export interface CallLimitDeps extends Pick<StreamPlaceDeps, 'limits' | 'holder' | 'renewMs'> {
  readonly settings: CallLimitSettings;
  /** Called with the limit that a caller has reached. */
  readonly onRefused: (limit: LimitName) => void;
}

/** The points that a call takes from a budget, and the part of it from which it takes them. */
interface Spent {
  readonly of?: string;
  readonly points?: number;
}

/** Makes the budgets. */
export function createCallLimits(deps: CallLimitDeps): CallLimits {
  const { limits, settings, onRefused } = deps;
  /** The budget for the bytes that a caller is sent. */
  function readBytesOf(caller: Caller): readonly [LimitName, Owner, Rate] {
    const isKey = caller.kind === 'service' && operatorOf(caller) === undefined;
    return isKey
      ? ['service-read-bytes', budgetOwnerOf(caller), byteRate(settings.serviceReadBytes)]
      : ['user-read-bytes', budgetOwnerOf(caller), byteRate(settings.userReadBytes)];
  }

  async function spend(
    limit: LimitName,
    subject: Owner,
    rate: Rate,
    { of = '', points = 1 }: Spent = {},
  ): Promise<number | undefined> {
    const verdict = await limits.take(`${limit}${of}`, subject, rate, points);
    if (verdict.allowed) return undefined;
    onRefused(limit);
    return verdict.retryAfterSeconds;
  }

  async function take(limit: LimitName, subject: Owner, points: number, spent?: Spent): Promise<void> {
    const rate = { points, windowSeconds: WINDOW_SECONDS };
    const retryAfterSeconds = await spend(limit, subject, rate, spent);
    if (retryAfterSeconds === undefined) return;
    throw new ParleyError('rate_limited', 'Too many requests; wait and try again.', { retryAfterSeconds });
  }

  async function takeAnswer(owner: Owner, id: string): Promise<void> {
    // An id that cannot exist has no budget: its name may be long and must not reach Redis.
    if (bucketOfRecordId(id) === undefined) return;
    await take('answers', owner, settings.elicitationAnswers, { of: `:${id}` });
  }

  /**
   * The budgets that a read needs. A service key's calls are already counted, and counting its reads too would add a round trip
   * to every fourth. So only the byte budget that this pod knows is checked.
   */
  function spendRead(caller: Caller): Promise<number | undefined>[] {
    const bytes = readBytesOf(caller);
    const [limit, subject] = bytes;
    if (caller.kind === 'service') return limits.isUsedUp(limit, subject) ? [spend(...bytes)] : [];
    const ofTenant = { tenant: caller.tenant, userId: TENANT_USER };
    return [
      spend('user-reads', subject, readRate(settings.userReads)),
      spend('tenant-reads', ofTenant, readRate(settings.tenantReads)),
      spend(...bytes),
    ];
  }

  async function takeRead(caller: Caller): Promise<void> {
    const spent = await Promise.all(spendRead(caller));
    const retryAfterSeconds = spent.find((seconds) => seconds !== undefined);
    if (retryAfterSeconds === undefined) return;
    throw new ParleyError('read_quota', 'Too many reads; wait and try again.', { retryAfterSeconds });
  }

  /** Counts a call for a tenant. All calls of an operator share one budget, which is enough for one person at a console. */
  function takeServiceCall(caller: Caller, limit: 'service-calls' | 'service-openings'): Promise<void> {
    const isOperator = operatorOf(caller) !== undefined;
    return isOperator
      ? take('operator-calls', budgetOwnerOf(caller), settings.operatorCalls)
      : take(limit, budgetOwnerOf(caller), settings.serviceCalls);
  }

  return {
    async call(caller, writes, answers) {
      if (caller.kind === 'service') {
        const call = takeServiceCall(caller, 'service-calls');
        await (writes ? call : Promise.all([call, takeRead(caller)]));
      } else if (writes) {
        const call = take('user-writes', caller, settings.userWrites);
        // A call that is refused anyway takes nothing from the budget for answers.
        const takesAnswer = answers !== undefined && !limits.isUsedUp('user-writes', caller);
        await (takesAnswer ? Promise.all([call, takeAnswer(caller, answers)]) : call);
      } else {
        await takeRead(caller);
      }
    },
    async opening(caller) {
      const read = takeRead(caller);
      if (caller.kind === 'user') return read;
      await Promise.all([takeServiceCall(caller, 'service-openings'), read]);
    },
    async sent(caller, bytes) {
      const points = Math.floor(bytes / POINT_BYTES);
      if (points === 0) return 0;
      const verdict = await limits.take(...readBytesOf(caller), points);
      return verdict.allowed ? 0 : verdict.retryAfterSeconds;
    },
    async body(caller, bytes) {
      if (bytes <= LARGE_BODY_BYTES) return;
      const points = Math.ceil(bytes / POINT_BYTES);
      const { userWriteBytes, serviceWriteBytes } = settings;
      if (caller.kind === 'user')
        await take('user-write-bytes', caller, Math.ceil(userWriteBytes / POINT_BYTES), { points });
      else
        await take('service-write-bytes', budgetOwnerOf(caller), Math.ceil(serviceWriteBytes / POINT_BYTES), {
          points,
        });
    },
    answer: takeAnswer,
    streamsOf: (user) => listOpenStreams(deps, user),
    stream: createStreamPlaces({
      ...deps,
      streamsMax: settings.userStreams,
      onRefused: () => onRefused('streams'),
    }),
  };
}

/** The owner of a caller's budgets. */
function budgetOwnerOf(caller: Caller): Owner {
  const { tenant } = caller;
  return { tenant, userId: caller.kind === 'user' ? caller.userId : `${SERVICE_USER}:${caller.keyId ?? ''}` };
}

function byteRate(bytes: number): Rate {
  return { points: Math.ceil(bytes / POINT_BYTES), windowSeconds: WINDOW_SECONDS, batch: BYTE_POINTS_AHEAD };
}

function readRate(points: number): Rate {
  return { points, windowSeconds: WINDOW_SECONDS, batch: Math.floor(points / READ_BATCHES) };
}

/**
 * Resolves when a caller may answer an elicitation, or decide on an approval, whose id is in the call's body. Counts against
 * the budgets of the call and of the record. Throws `rate_limited`.
 */
export async function admitAnswer(
  limits: Pick<CallLimits, 'answer'>,
  { caller, admitted }: Pick<RouteCall, 'caller' | 'admitted'>,
  id: string,
): Promise<void> {
  await Promise.all([admitted, caller.kind === 'user' && limits.answer(caller, id)]);
}
