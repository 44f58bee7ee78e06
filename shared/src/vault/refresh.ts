import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Credential, CredentialRef, OAuthCredential } from '../domain/credential.ts';
import { isParleyError } from '../domain/errors.ts';
import type { Leases } from '../ports/vault.ts';
import { judge, mergeRefreshed, type Verdict } from './refresh-rules.ts';
import { createSecret, type Secret } from './secret.ts';
import type { HeldCredential, Vault } from './vault.ts';

/** The authorization server says that the grant is over: only the person can give a new one (RFC 6749, section 5.2). */
export class InvalidGrantError extends Error {
  constructor(message = 'The authorization server does not honour this grant any more.') {
    super(message);
    this.name = 'InvalidGrantError';
  }
}

/**
 * Gets new tokens for old ones from the authorization server. Throws InvalidGrantError when the grant is over; anything
 * else it throws counts as passing. Ends when the signal does.
 */
export type RefreshCall = (tokens: OAuthCredential, signal: AbortSignal) => Promise<OAuthCredential>;

export type FreshCredential =
  | { readonly status: 'usable'; readonly credential: Secret<Credential>; readonly version: number }
  /** There is none: the person has not connected yet, or disconnected. */
  | { readonly status: 'absent' }
  /** The person has to connect again. */
  | { readonly status: 'reconnect_required'; readonly version: number }
  /** Has to be refreshed, and the authorization server cannot be reached; trying again later makes sense. */
  | { readonly status: 'unavailable' };

export interface FreshOptions {
  /** The version that the provider refused although it seemed valid: whatever its end, it is refreshed. */
  readonly rejected?: number;
}

/** Gives a credential that can be used for a while, refreshed where it has to be. */
export type FreshCredentialOf = (
  ref: CredentialRef,
  refresh: RefreshCall,
  options?: FreshOptions,
) => Promise<FreshCredential>;

/** `refused`: the grant is over. `failed`: passing. `overtaken`: something newer was written meanwhile and holds. */
export type RefreshOutcome = 'refreshed' | 'refused' | 'failed' | 'overtaken';

export interface RefreshSettings {
  /** For how long a token must be valid to be used as it is, in ms. */
  readonly skewMs: number;
  /** At most so much is added to the skew, at random, so that pods do not all find a token old at the same time. */
  readonly jitterMs: number;
  /** How long others wait for the one who refreshes, in ms: as long as that may take, and then some. */
  readonly leaseMs: number;
  /** How long a call to the authorization server may take, in ms. */
  readonly callMs: number;
}

export interface RefreshDeps {
  readonly vault: Pick<Vault, 'read' | 'save' | 'markReconnect'>;
  readonly leases: Leases;
  readonly settings?: Partial<RefreshSettings>;
  /** Told of every call to an authorization server; the error is what the call threw. */
  readonly onRefresh?: (outcome: RefreshOutcome, error?: unknown) => void;
}

const DEFAULTS: RefreshSettings = { skewMs: 60_000, jitterMs: 15_000, leaseMs: 30_000, callMs: 20_000 };
const POLL_MS_MIN = 25;
const POLL_MS_MAX = 250;

/**
 * Makes the one way to use a credential. It refreshes one at most once at a time over all pods, for a refresh token
 * that is used twice may cost the person the whole grant (RFC 9700, section 4.14.2). Callers in this process share one
 * flight; flights of all pods take turns by a lease, and whoever waits takes what the one before it wrote. Two things
 * end a grant all the same: a pod that dies after the server has given new tokens and before they are saved, and one
 * that stands still with the lease for longer than that lasts. The next to refresh then hears that the grant is over,
 * and the credential becomes `reconnect_required`. Throws what the vault throws.
 */
export function createRefresher(deps: RefreshDeps): FreshCredentialOf {
  const settings = { ...DEFAULTS, ...deps.settings };
  const flights = new Map<string, Promise<FreshCredential>>();

  return async (ref, refresh, { rejected } = {}) => {
    const skewMs = settings.skewMs + Math.random() * settings.jitterMs;
    const trip: Trip = { deps, settings, ref, refresh, rejected, skewMs };
    const held = await deps.vault.read(ref);
    if (!isDue(trip, held, held)) return conclude(trip, held, held);
    const key = JSON.stringify([ref.tenant, ref.userId, ref.toolId, ref.connectorId, rejected ?? null]);
    const flight = flights.get(key) ?? fly(trip, held).finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  };
}

/** What one call for a credential carries along. */
interface Trip {
  readonly deps: RefreshDeps;
  readonly settings: RefreshSettings;
  readonly ref: CredentialRef;
  readonly refresh: RefreshCall;
  readonly rejected: number | undefined;
  /** With its share of jitter. */
  readonly skewMs: number;
}

type Held = HeldCredential | undefined;

/** Tries for the lease until somebody has written the credential since it was `first` read, be it this flight. */
async function fly(trip: Trip, first: Held): Promise<FreshCredential> {
  const { deps, settings, ref } = trip;
  const holder = randomUUID();
  // A lease whose holder died ends within its time; one look more finds it free.
  const until = performance.now() + settings.leaseMs + POLL_MS_MAX;
  for (let pauseMs = POLL_MS_MIN; ; pauseMs = Math.min(2 * pauseMs, POLL_MS_MAX)) {
    if (await deps.leases.lease(ref, holder, settings.leaseMs)) return lead(trip, holder, first);
    await sleep(pauseMs * (0.5 + Math.random() / 2));
    const held = await deps.vault.read(ref);
    if (!isDue(trip, first, held)) return conclude(trip, first, held);
    if (performance.now() >= until) return asItStands(trip, held);
  }
}

/** Refreshes, unless the holder before has; lets go of the lease when that is over, even if nobody waits for it. */
async function lead(trip: Trip, holder: string, first: Held): Promise<FreshCredential> {
  const { deps, settings, ref } = trip;
  const calling = new AbortController();
  const work = refreshOnce(trip, first, calling.signal).finally(() =>
    deps.leases.release(ref, holder).catch(() => undefined),
  );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => {
      calling.abort();
      resolve('late');
    }, settings.callMs);
  });
  try {
    const result = await Promise.race([work, late]);
    if (result !== 'late') return result;
    // What the call may still bring is saved all the same: `work` goes on.
    work.catch(() => undefined);
    return asItStands(trip, await deps.vault.read(ref));
  } finally {
    clearTimeout(timer);
  }
}

async function refreshOnce(trip: Trip, first: Held, signal: AbortSignal): Promise<FreshCredential> {
  const { deps, ref, refresh } = trip;
  const held = await deps.vault.read(ref);
  const verdict = verdictOn(trip, held);
  if (held === undefined || verdict?.next !== 'refresh' || isNewSince(trip, first, held))
    return conclude(trip, first, held);
  let tokens: OAuthCredential;
  try {
    tokens = mergeRefreshed(verdict.tokens, await refresh(verdict.tokens, signal));
  } catch (error) {
    const refused = error instanceof Error && error.name === 'InvalidGrantError';
    deps.onRefresh?.(refused ? 'refused' : 'failed', error);
    return refused ? giveUp(trip, held) : asItStands(trip, await deps.vault.read(ref));
  }
  const version = await saveInsistently(trip, tokens, held.version);
  deps.onRefresh?.(version === undefined ? 'overtaken' : 'refreshed');
  if (version === undefined) return asItStands(trip, await deps.vault.read(ref));
  return { status: 'usable', credential: createSecret(tokens), version };
}

/** The old tokens are void by now, so a store that is away for a moment must not cost the new ones. */
async function saveInsistently(
  trip: Trip,
  tokens: OAuthCredential,
  version: number,
): Promise<number | undefined> {
  const { deps, settings, ref } = trip;
  const until = performance.now() + settings.leaseMs;
  for (let pauseMs = POLL_MS_MIN; ; pauseMs = Math.min(2 * pauseMs, POLL_MS_MAX)) {
    try {
      return await deps.vault.save(ref, tokens, version);
    } catch (error) {
      if (!isParleyError(error, 'unavailable') || performance.now() >= until) throw error;
      await sleep(pauseMs);
    }
  }
}

function isDue(trip: Trip, first: Held, held: Held): boolean {
  return verdictOn(trip, held)?.next === 'refresh' && !isNewSince(trip, first, held);
}

/** Written since it was first read, so there is nothing newer to get, however short a life the server gave it. */
function isNewSince({ rejected }: Trip, first: Held, held: Held): boolean {
  return held?.state === 'usable' && held.version !== first?.version && held.version !== rejected;
}

/** What a call gets that has nothing to refresh. */
async function conclude(trip: Trip, first: Held, held: Held): Promise<FreshCredential> {
  if (held === undefined) return { status: 'absent' };
  const { credential, version, state } = held;
  const { next } = judgeHeld(trip, held);
  if (next !== 'reconnect' && isNewSince(trip, first, held)) return { status: 'usable', credential, version };
  return next === 'reconnect' && state === 'usable' ? giveUp(trip, held) : asItStands(trip, held);
}

/** Notes that only the person can help, unless somebody has written the credential anew meanwhile. */
async function giveUp(trip: Trip, { version }: HeldCredential): Promise<FreshCredential> {
  const { deps, ref } = trip;
  if (await deps.vault.markReconnect(ref, version)) return { status: 'reconnect_required', version };
  return asItStands(trip, await deps.vault.read(ref));
}

/** The credential without another attempt at it: usable as long as it is valid at all. */
function asItStands(trip: Trip, held: Held): FreshCredential {
  if (held === undefined) return { status: 'absent' };
  const verdict = judgeHeld(trip, held);
  const { credential, version } = held;
  if (verdict.next === 'reconnect') return { status: 'reconnect_required', version };
  if (verdict.next === 'refresh' && !verdict.valid) return { status: 'unavailable' };
  return { status: 'usable', credential, version };
}

function verdictOn(trip: Trip, held: Held): Verdict | undefined {
  return held === undefined ? undefined : judgeHeld(trip, held);
}

function judgeHeld({ rejected, skewMs }: Trip, held: HeldCredential): Verdict {
  return judge({ held, rejected, now: Date.now(), skewMs });
}
