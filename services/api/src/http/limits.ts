import { randomUUID } from 'node:crypto';
import { ParleyError } from '@parley/shared/domain/errors';
import { bucketOfElicitationId, type Owner } from '@parley/shared/domain/ids';
import type { Caller } from '@parley/shared/elicitations/caller';
import { releaseOnAbort } from '@parley/shared/elicitations/release-on-abort';
import type { Limits, Rate } from '@parley/shared/ports/limits';
import type { LimitName } from '@parley/shared/runtime/metrics';
import type { RouteCall } from './route.ts';

/** Budgets of callers, kept over all pods. Each throws `rate_limited` with a time to try again. */
export interface CallLimits {
  /**
   * One call of this caller: a service call, or a user's write or read. With `answers`, the id of the elicitation that the
   * call answers, also one answer to it.
   */
  call(caller: Caller, writes: boolean, answers?: string): Promise<void>;
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
  /** One answer of one caller to one elicitation. */
  answer(owner: Owner, elicitationId: string): Promise<void>;
  /**
   * Takes and keeps a place for one event stream of a user; the returned function releases it. `onLost` is called when
   * another reader took the place.
   */
  stream(caller: Caller, reader: StreamReader, onLost: () => void): Promise<() => void>;
}

/** A reader that asks for an event stream. */
export interface StreamReader {
  /** What it reads, such as `chat/<conversation id>`. */
  readonly stream: string;
  /** True when it has read this stream before. It may then take the place of an earlier connection to the same stream. */
  readonly returns: boolean;
}

/** This pod as a holder of stream places. */
export interface PlaceHolder {
  /** Name of this pod's lease; another one after each start. */
  readonly owner: string;
  /** True when the lease of another pod has lapsed. */
  hasLapsed(owner: string): Promise<boolean>;
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
  readonly tenantReads: number;
}

const WINDOW_SECONDS = 10;
const PLACE_MS = 45_000;
const RENEW_MS = 15_000;
/** The limits of which a user has a budget or places. */
export const USER_LIMITS = [
  'user-writes',
  'user-reads',
  'user-read-bytes',
  'user-write-bytes',
  'streams',
] as const satisfies readonly LimitName[];

/** The limit of the answers to one elicitation. */
export function answerLimitOf(elicitationId: string): string {
  return `answers:${elicitationId}`;
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

export interface CallLimitDeps {
  readonly limits: Limits;
  readonly settings: CallLimitSettings;
  readonly holder: PlaceHolder;
  /** How often the places of open streams are renewed, in ms. */
  readonly renewMs?: number;
  /** Called with the limit that a caller has reached. */
  readonly onRefused: (limit: LimitName) => void;
}

/** Makes the budgets. */
export function createCallLimits(deps: CallLimitDeps): CallLimits {
  const { limits, settings, holder, renewMs = RENEW_MS, onRefused } = deps;
  const byteRate = {
    points: Math.ceil(settings.userReadBytes / POINT_BYTES),
    windowSeconds: WINDOW_SECONDS,
    batch: BYTE_POINTS_AHEAD,
  };
  async function spend(
    limit: LimitName,
    subject: Owner,
    rate: Rate,
    of = '',
    points = 1,
  ): Promise<number | undefined> {
    const verdict = await limits.take(`${limit}${of}`, subject, rate, points);
    if (verdict.allowed) return undefined;
    onRefused(limit);
    return verdict.retryAfterSeconds;
  }

  async function take(limit: LimitName, subject: Owner, points: number, of = '', taken = 1): Promise<void> {
    const rate = { points, windowSeconds: WINDOW_SECONDS };
    const retryAfterSeconds = await spend(limit, subject, rate, of, taken);
    if (retryAfterSeconds === undefined) return;
    throw new ParleyError('rate_limited', 'Too many requests; wait and try again.', { retryAfterSeconds });
  }

  async function takeAnswer(owner: Owner, elicitationId: string): Promise<void> {
    // An id that cannot exist has no budget: its name, however long, must not reach Redis.
    if (bucketOfElicitationId(elicitationId) === undefined) return;
    await take('answers', owner, settings.elicitationAnswers, `:${elicitationId}`);
  }

  async function takeRead({ tenant, userId }: Owner): Promise<void> {
    const ofTenant = { tenant, userId: TENANT_USER };
    const [byUser, byTenant, byBytes] = await Promise.all([
      spend('user-reads', { tenant, userId }, readRate(settings.userReads)),
      spend('tenant-reads', ofTenant, readRate(settings.tenantReads)),
      spend('user-read-bytes', { tenant, userId }, byteRate),
    ]);
    const retryAfterSeconds = byUser ?? byTenant ?? byBytes;
    if (retryAfterSeconds === undefined) return;
    throw new ParleyError('read_quota', 'Too many reads; wait and try again.', { retryAfterSeconds });
  }

  return {
    async call(caller, writes, answers) {
      if (caller.kind === 'service') {
        await take('service-calls', serviceOf(caller), settings.serviceCalls);
      } else if (writes) {
        const call = take('user-writes', caller, settings.userWrites);
        // A call that is refused anyway takes nothing from the budget of the answers.
        const takesAnswer = answers !== undefined && !limits.isUsedUp('user-writes', caller);
        await (takesAnswer ? Promise.all([call, takeAnswer(caller, answers)]) : call);
      } else {
        await takeRead(caller);
      }
    },
    async sent(caller, bytes) {
      const points = Math.floor(bytes / POINT_BYTES);
      if (caller.kind === 'service' || points === 0) return 0;
      const { tenant, userId } = caller;
      const verdict = await limits.take('user-read-bytes', { tenant, userId }, byteRate, points);
      return verdict.allowed ? 0 : verdict.retryAfterSeconds;
    },
    async body(caller, bytes) {
      if (bytes <= LARGE_BODY_BYTES) return;
      const points = Math.ceil(bytes / POINT_BYTES);
      const { userWriteBytes, serviceWriteBytes } = settings;
      if (caller.kind === 'user')
        await take('user-write-bytes', caller, Math.ceil(userWriteBytes / POINT_BYTES), '', points);
      else
        await take(
          'service-write-bytes',
          serviceOf(caller),
          Math.ceil(serviceWriteBytes / POINT_BYTES),
          '',
          points,
        );
    },
    answer: takeAnswer,
    async stream(caller, reader, onLost) {
      if (caller.kind === 'service') return () => undefined;
      const place = formatPlace({ owner: holder.owner, stream: reader.stream });
      const hold = () => limits.hold('streams', caller, place, settings.userStreams, PLACE_MS);
      const isHeld = (await hold()) || ((await freePlace(deps, caller, reader)) && (await hold()));
      if (!isHeld) {
        onRefused('streams');
        throw new ParleyError('rate_limited', 'This user has too many open event streams; close one.', {
          retryAfterSeconds: WINDOW_SECONDS,
        });
      }
      const renew = () => hold().then((held) => held || onLost());
      const renewal = setInterval(() => renew().catch(() => undefined), renewMs).unref();
      return () => {
        clearInterval(renewal);
        limits.release('streams', caller, place).catch(() => undefined);
      };
    },
  };
}

/** Under whose name a service key has its budgets. */
function serviceOf({ tenant, keyId }: Caller & { readonly kind: 'service' }): Owner {
  return { tenant, userId: `${SERVICE_USER}:${keyId ?? ''}` };
}

function readRate(points: number): Rate {
  return { points, windowSeconds: WINDOW_SECONDS, batch: Math.floor(points / READ_BATCHES) };
}

/**
 * Frees the places of pods whose lease has lapsed; else, for a reader that returns, the oldest place of its own stream,
 * whose connection is probably broken. False when there is none of either.
 */
async function freePlace(
  { limits, holder }: CallLimitDeps,
  user: Owner,
  { stream, returns }: StreamReader,
): Promise<boolean> {
  const places = (await limits.places('streams', user)).map((name) => ({ name, ...parsePlace(name) }));
  const owners = [...new Set(places.map(({ owner }) => owner))].filter((owner) => owner !== holder.owner);
  const haveLapsed = await Promise.all(owners.map((owner) => holder.hasLapsed(owner)));
  const lapsed = new Set(owners.filter((_owner, at) => haveLapsed[at]));
  const abandoned = places.filter(({ owner }) => lapsed.has(owner));
  const own = returns ? places.filter((place) => place.stream === stream).slice(0, 1) : [];
  const free = abandoned.length > 0 ? abandoned : own;
  await Promise.all(free.map(({ name }) => limits.release('streams', user, name)));
  return free.length > 0;
}

interface PlaceName {
  readonly owner: string;
  readonly stream: string;
}

function formatPlace({ owner, stream }: PlaceName): string {
  return [owner, stream, randomUUID()].map(encodeURIComponent).join('/');
}

function parsePlace(name: string): PlaceName {
  const [owner = '', stream = ''] = name.split('/').map(decodeURIComponent);
  return { owner, stream };
}

/**
 * Resolves when a caller may answer an elicitation that the body of its call names: the budget of the call, and that of the
 * elicitation. Throws `rate_limited`.
 */
export async function admitAnswer(
  limits: Pick<CallLimits, 'answer'>,
  { caller, admitted }: Pick<RouteCall, 'caller' | 'admitted'>,
  elicitationId: string,
): Promise<void> {
  await Promise.all([admitted, caller.kind === 'user' && limits.answer(caller, elicitationId)]);
}

/** A place that an event stream occupies. */
export interface StreamPlace {
  readonly release: () => void;
  /** Aborted when the caller disconnects, the pod drains, or another reader took the place. */
  readonly signal: AbortSignal;
}

/**
 * Takes a place for an event stream, and opens it. Releases the place when `open` fails, when the stream calls
 * `release`, and when the caller disconnects, also before the first event.
 */
export async function inStreamPlace<Opened>(
  limits: Pick<CallLimits, 'stream'>,
  { caller, signal: calling }: Pick<RouteCall, 'caller' | 'signal'>,
  reader: StreamReader,
  open: (place: StreamPlace) => Promise<Opened>,
): Promise<Opened> {
  const lost = new AbortController();
  const signal = AbortSignal.any([calling, lost.signal]);
  const release = releaseOnAbort(signal, await limits.stream(caller, reader, () => lost.abort()));
  try {
    return await open({ release, signal });
  } catch (error) {
    release();
    throw error;
  }
}
