/** Limits how many event streams a user may have open on all pods. Counting calls is in `call-limits.ts`. */

import { randomUUID } from 'node:crypto';
import { ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import { type Caller, operatorOf } from '@parley/shared/domain/caller';
import type { HeldPlace, Limits } from '@parley/shared/ports/limits';
import { CALL_OVER } from '../life/request-life.ts';
import type { RouteCall } from '../route.ts';

/** A reader that asks for an event stream. */
export interface StreamReader {
  /** The name of the stream, such as `chat/<conversation id>`. */
  readonly stream: string;
  /**
   * True if the reader has read this stream before. It may then take over the place of an earlier connection to the same
   * stream.
   */
  readonly returns: boolean;
}

/** This pod as a holder of stream places. */
interface PlaceHolder {
  /** Name of this pod's lease. It differs after each start. */
  readonly owner: string;
  /** True if the lease of another pod has lapsed. */
  hasLapsed(owner: string): Promise<boolean>;
}

export interface StreamPlaceDeps {
  readonly limits: Limits;
  readonly holder: PlaceHolder;
  /** How many event streams a user may have open. */
  readonly streamsMax: number;
  /** How often the places of all open streams are renewed together, in ms. */
  readonly renewMs?: number;
  /** Called when a user has no free place. */
  readonly onRefused: () => void;
}

/**
 * Takes and keeps a place for one event stream of a user. The returned function releases it. `onLost` is called when another
 * reader took over the place. Throws `rate_limited` with a time to try again. Service keys need no place; operators of the
 * console do.
 */
export type TakeStreamPlace = (
  caller: Caller,
  reader: StreamReader,
  onLost: () => void,
) => Promise<() => void>;

// The places of a pod that has died are free before: its lease tells.
const PLACE_MS = 270_000;
const RENEW_MS = 90_000;
const RETRY_AFTER_SECONDS = 10;

/** Makes the function that takes places, which all pods share. */
export function createStreamPlaces(deps: StreamPlaceDeps): TakeStreamPlace {
  const { limits, holder, streamsMax, onRefused } = deps;
  const keep = createPlaceKeeper(deps);
  return async (caller, reader, onLost) => {
    const subject = placedOf(caller);
    if (subject === undefined) return () => undefined;
    const place = formatPlace({ owner: holder.owner, stream: reader.stream });
    const hold = () => limits.hold('streams', { subject, place }, streamsMax, PLACE_MS);
    const isHeld = (await hold()) || ((await freePlace(deps, subject, reader)) && (await hold()));
    if (!isHeld) {
      onRefused();
      throw new ParleyError('rate_limited', 'This user has too many open event streams; close one.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    return keep({ subject, place, onLost });
  };
}

/** The name of an operator's places, which no user can have. */
const OPERATOR_USER = '\u0000operator';

/** The owner of a reader's places; undefined for a service key. */
function placedOf(caller: Caller): Owner | undefined {
  const { tenant } = caller;
  if (caller.kind === 'user') return { tenant, userId: caller.userId };
  const operator = operatorOf(caller);
  return operator === undefined ? undefined : { tenant, userId: `${OPERATOR_USER}:${operator}` };
}

/** A place that a stream of this pod holds. */
interface KeptPlace extends HeldPlace {
  readonly onLost: () => void;
}

/** Keeps places with one timer for the pod. The returned function releases a place. */
function createPlaceKeeper({
  limits,
  streamsMax,
  renewMs = RENEW_MS,
}: StreamPlaceDeps): (kept: KeptPlace) => () => void {
  const places = new Set<KeptPlace>();
  let isRenewing = false;

  async function renew(): Promise<void> {
    const held = [...places];
    const renewed = await limits.renew('streams', held, PLACE_MS);
    // Redis may have lost the place, or another reader may have taken it over and another place is free. Places are taken again
    // one by one, because after a loss of data all of them are gone.
    for (const kept of held.filter((_, at) => renewed[at] === false)) {
      if (!places.has(kept)) continue;
      const isHeld = await limits.hold('streams', kept, streamsMax, PLACE_MS);
      if (!isHeld) kept.onLost();
      else if (!places.has(kept)) release(kept);
    }
  }

  function renewLater(): void {
    if (isRenewing || places.size === 0) return;
    isRenewing = true;
    const renewAll = async () => {
      await renew().catch(() => undefined);
      isRenewing = false;
      renewLater();
    };
    setTimeout(() => void renewAll(), renewMs).unref();
  }

  function release({ subject, place }: HeldPlace): void {
    limits.release('streams', subject, place).catch(() => undefined);
  }

  return (kept) => {
    places.add(kept);
    renewLater();
    return () => {
      if (places.delete(kept)) release(kept);
    };
  };
}

/**
 * Frees the places of pods whose lease has lapsed. If there are none and the reader returns, frees the oldest place of its own
 * stream, whose connection is probably broken. Returns false if no place could be freed.
 */
async function freePlace(
  { limits, holder }: Pick<StreamPlaceDeps, 'limits' | 'holder'>,
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

/** The names of the event streams of a user that are open on live pods. */
export async function listOpenStreams(
  { limits, holder }: Pick<StreamPlaceDeps, 'limits' | 'holder'>,
  user: Owner,
): Promise<readonly string[]> {
  const places = (await limits.places('streams', user)).map(parsePlace);
  const isGone = await Promise.all(
    places.map(({ owner }) => owner !== holder.owner && holder.hasLapsed(owner)),
  );
  return places.filter((_, at) => isGone[at] === false).map(({ stream }) => stream);
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

/** A place that an event stream holds. */
export interface StreamPlace {
  readonly release: () => void;
  /** Aborted when the caller disconnects, the pod drains, or another reader takes over the place. */
  readonly signal: AbortSignal;
}

/**
 * Takes a place for an event stream and opens it. The place is released when `open` fails, when the stream calls `release`, and
 * when the caller disconnects, even before the first event.
 */
export async function inStreamPlace<Opened>(
  limits: { readonly stream: TakeStreamPlace },
  { caller, whenOver }: Pick<RouteCall, 'caller' | 'whenOver'>,
  reader: StreamReader,
  open: (place: StreamPlace) => Promise<Opened>,
): Promise<Opened> {
  const ending = new AbortController();
  const { signal } = ending;
  let release: (() => void) | undefined;
  const end = () => {
    release?.();
    ending.abort(CALL_OVER);
  };
  release = await limits.stream(caller, reader, end);
  whenOver(end);
  try {
    return await open({ release, signal });
  } catch (error) {
    release();
    throw error;
  }
}
