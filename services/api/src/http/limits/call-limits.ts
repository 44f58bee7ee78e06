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

/** Budgets of callers, kept over all pods. Each throws `rate_limited` with a time to try again. */
export interface CallLimits {
  /**
   * One call of this caller: one of a service key or an operator, or a user's write or read. With `answers`, the id of the
   * elicitation that the call answers or of the approval on which it decides, also one answer to it.
   */
  call(caller: Caller, writes: boolean, answers?: string): Promise<void>;
  /**
   * One event stream that this caller opens: a read. A service key has a budget of its own for these, of the same size as
   * that of its calls: when readers come back after a pod has died, it can still ask.
   */
  opening(caller: Caller): Promise<void>;
  /**
   * Counts bytes that a caller was sent. Returns the seconds to wait before more are sent: 0 while the caller's budget
   * lasts. The reply that exceeds the budget is sent whole; later reads are refused with `read_quota`.
   */
  sent(caller: Caller, bytes: number): Promise<number>;
  /**
   * A request body of `bytes` that is about to be read. Small ones are free: their call is counted. Throws `rate_limited`
   * before a large one is read, because reading and parsing it would cost most.
   */
  body(caller: Caller, bytes: number): Promise<void>;
  /** One answer of one caller to one elicitation, or one decision on one approval. */
  answer(owner: Owner, id: string): Promise<void>;
  /** A place for one event stream. */
  readonly stream: TakeStreamPlace;
  /** What the open event streams of a user read, over all pods. Throws `unavailable`. */
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
/** The limits of which a user has a budget or places. */
export const USER_LIMITS = [
  'user-writes',
  'user-reads',
  'user-read-bytes',
  'user-write-bytes',
  'streams',
] as const satisfies readonly LimitName[];

/** The limit of the answers to one elicitation, and of the decisions on one approval. */
export function answerLimitOf(id: string): string {
  return `answers:${id}`;
}

/** A service key has its budget under a name that no user can have. */
const SERVICE_USER = '\u0000service';
/** The same for a tenant as a whole. */
const TENANT_USER = '\u0000tenant';
// Bytes are counted in points of this many: a smaller reply costs what its request costs.
const POINT_BYTES = 1024;
// A smaller body costs little more than its call.
const LARGE_BODY_BYTES = 16 * 1024;
// Each point taken ahead admits a read, however large, after the budget is used up.
const BYTE_POINTS_AHEAD = 4;
// A read should not cost a second round trip: pods take this share of a budget ahead.
const READ_BATCHES = 50;

export interface CallLimitDeps extends Pick<StreamPlaceDeps, 'limits' | 'holder' | 'renewMs'> {
  readonly settings: CallLimitSettings;
  /** Called with the limit that a caller has reached. */
  readonly onRefused: (limit: LimitName) => void;
}

/** What a call takes of a budget: `points` of the part `of`. */
interface Spent {
  readonly of?: string;
  readonly points?: number;
}

/** Makes the budgets. */
export function createCallLimits(deps: CallLimitDeps): CallLimits {
  const { limits, settings, onRefused } = deps;
  /** The budget of the bytes that a caller is sent. */
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
    // An id that cannot exist has no budget: its name, however long, must not reach Redis.
    if (bucketOfRecordId(id) === undefined) return;
    await take('answers', owner, settings.elicitationAnswers, { of: `:${id}` });
  }

  /**
   * What keeps a caller from reading. A service key has calls enough already: a point for each of its reads would be a
   * round trip for every fourth, so only what this pod knows of its bytes counts.
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

  /** A call for a tenant. An operator has one budget for all, as large as one person at a console needs. */
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
        // A call that is refused anyway takes nothing from the budget of the answers.
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

/** Under whose name a caller has budgets. */
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
 * Resolves when a caller may answer an elicitation, or decide on an approval, that the body of its call names: the budget of
 * the call, and that of the record. Throws `rate_limited`.
 */
export async function admitAnswer(
  limits: Pick<CallLimits, 'answer'>,
  { caller, admitted }: Pick<RouteCall, 'caller' | 'admitted'>,
  id: string,
): Promise<void> {
  await Promise.all([admitted, caller.kind === 'user' && limits.answer(caller, id)]);
}
