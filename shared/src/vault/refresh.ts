/**
 * Refreshes credentials so that at most one refresh runs over all pods, because a second one may end the person's grant.
 * Whether a refresh is needed is decided in `refresh-rules.ts`, and the HTTP call is the connector's.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isParleyError } from '@parley/core/domain/errors';
import type { Credential, CredentialRef, OAuthCredential } from '../domain/credential.ts';
import type { Leases } from '../ports/vault.ts';
import { judge, mergeRefreshed, type Verdict } from './refresh-rules.ts';
import { createSecret, type Secret } from './secret.ts';
import type { OpenedCredential, Vault } from './vault.ts';

/** The authorization server reports that the grant has ended. Only the person can give a new one (RFC 6749, section 5.2). */
export class InvalidGrantError extends Error {
  constructor(message = 'The authorization server no longer accepts this grant.') {
    super(message);
    this.name = 'InvalidGrantError';
  }
}

/**
 * Gets new tokens from the authorization server. Throws InvalidGrantError when the grant has ended. Any other error counts
 * as temporary. Ends when the signal is aborted.
 */
export type RefreshCall = (tokens: OAuthCredential, signal: AbortSignal) => Promise<OAuthCredential>;

/** Obtains tokens without a person and without earlier tokens, under the rules of `RefreshCall`. */
type ObtainCall = (signal: AbortSignal) => Promise<OAuthCredential>;

/** How a credential gets new tokens: from its present ones, or without a person. */
export type Renewal = RefreshCall | { readonly obtain: ObtainCall };

export type FreshCredential =
  | { readonly status: 'usable'; readonly credential: Secret<Credential>; readonly version: number }
  /** There is no credential: the person has not connected or has disconnected, or the server gives none without a person. */
  | { readonly status: 'absent' }
  /** The person has to connect again, or the server gives no other credential without a person. */
  | { readonly status: 'reconnect_required'; readonly version: number }
  /** A refresh is necessary, but the authorization server cannot be reached. A later attempt may succeed. */
  | { readonly status: 'unavailable' };

export interface FreshOptions {
  /** The version that the provider refused although it seemed valid. It is refreshed even before its expiry. */
  readonly rejected?: number;
}

/** Returns a usable credential, refreshed or obtained if necessary. */
export type FreshCredentialOf = (
  ref: CredentialRef,
  renewal: Renewal,
  options?: FreshOptions,
) => Promise<FreshCredential>;

/**
 * `refused`: the grant has ended. `failed`: a temporary error. `overtaken`: a newer credential was written during the refresh,
 * and is kept.
 */
type RefreshOutcome = 'refreshed' | 'refused' | 'failed' | 'overtaken';

interface RefreshSettings {
  /** Minimum remaining lifetime of a token that is used as it is, in ms. */
  readonly skewMs: number;
  /** Maximum of a random addition to the skew, in ms, so that not all pods refresh a token at the same time. */
  readonly jitterMs: number;
  /** Duration of the lease on a refresh, in ms. Longer than a refresh may take. */
  readonly leaseMs: number;
  /** How long a call to the authorization server may take, in ms. */
  readonly callMs: number;
}

export interface RefreshDeps {
  readonly vault: Pick<Vault, 'read' | 'save' | 'markReconnect'>;
  readonly leases: Leases;
  readonly settings?: Partial<RefreshSettings>;
  /** Called after every call to an authorization server, with the error that the call threw. */
  readonly onRefresh?: (outcome: RefreshOutcome, ref: CredentialRef, error?: unknown) => void;
}

const DEFAULTS: RefreshSettings = { skewMs: 60_000, jitterMs: 15_000, leaseMs: 30_000, callMs: 20_000 };
const POLL_MS_MIN = 25;
const POLL_MS_MAX = 250;

/**
 * Makes the function through which every credential is used. Over all pods, at most one refresh of a credential runs at a
 * time, because a refresh token that is used twice may end the person's whole grant (RFC 9700, section 4.14.2). Callers in
 * this process share one refresh. Pods exclude each other with a lease, and a pod that waited uses the credential that the
 * other one wrote. Two failures can still end a grant: a pod dies after the server has issued new tokens and before they
 * are saved, or a pod is suspended for longer than its lease. The next refresh then gets `invalid_grant`, and the
 * credential becomes `reconnect_required`. Throws what the vault throws.
 */
export function createRefresher(deps: RefreshDeps): FreshCredentialOf {
  const settings = { ...DEFAULTS, ...deps.settings };
  const inFlight = new Map<string, Promise<FreshCredential>>();

  return async (ref, renewal, { rejected } = {}) => {
    const skewMs = settings.skewMs + Math.random() * settings.jitterMs;
    const attempt: RefreshAttempt = { deps, settings, ref, renewal, rejected, skewMs };
    const opened = await deps.vault.read(ref);
    if (!mustRefresh(attempt, opened, opened)) return settleWithoutRefresh(attempt, opened, opened);
    const key = JSON.stringify([ref.tenant, ref.userId, ref.toolId, ref.connectorId, rejected ?? null]);
    const refreshing =
      inFlight.get(key) ?? refreshShared(attempt, opened).finally(() => inFlight.delete(key));
    inFlight.set(key, refreshing);
    return refreshing;
  };
}

/** The parameters of one call for a credential. */
interface RefreshAttempt {
  readonly deps: RefreshDeps;
  readonly settings: RefreshSettings;
  readonly ref: CredentialRef;
  readonly renewal: Renewal;
  readonly rejected: number | undefined;
  /** The skew, including the jitter. */
  readonly skewMs: number;
}

type MaybeCredential = OpenedCredential | undefined;

/** Tries to get the lease, until any process has written the credential since it was first read. */
async function refreshShared(attempt: RefreshAttempt, first: MaybeCredential): Promise<FreshCredential> {
  const { deps, settings, ref } = attempt;
  const holder = randomUUID();
  // The lease of a holder that died expires within its duration. One further poll then finds it free.
  const until = performance.now() + settings.leaseMs + POLL_MS_MAX;
  for (let pauseMs = POLL_MS_MIN; ; pauseMs = Math.min(2 * pauseMs, POLL_MS_MAX)) {
    if (await deps.leases.lease(ref, holder, settings.leaseMs))
      return refreshWithLease(attempt, holder, first);
    await sleep(pauseMs * (0.5 + Math.random() / 2));
    const opened = await deps.vault.read(ref);
    if (!mustRefresh(attempt, first, opened)) return settleWithoutRefresh(attempt, first, opened);
    if (performance.now() >= until) return asStored(attempt, opened);
  }
}

/**
 * Refreshes under the lease, unless its previous holder already did. Then releases the lease, even if no caller is waiting any
 * more.
 */
async function refreshWithLease(
  attempt: RefreshAttempt,
  holder: string,
  first: MaybeCredential,
): Promise<FreshCredential> {
  const { deps, settings, ref } = attempt;
  const calling = new AbortController();
  const work = refreshOnce(attempt, first, calling.signal).finally(() =>
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
    // `work` continues in the background, so that tokens which arrive late are saved.
    work.catch(() => undefined);
    return asStored(attempt, await deps.vault.read(ref));
  } finally {
    clearTimeout(timer);
  }
}

async function refreshOnce(
  attempt: RefreshAttempt,
  first: MaybeCredential,
  signal: AbortSignal,
): Promise<FreshCredential> {
  const { deps, ref } = attempt;
  const opened = await deps.vault.read(ref);
  const renew = isNewSince(attempt, first, opened) ? undefined : renewalOf(attempt, opened);
  if (renew === undefined) return settleWithoutRefresh(attempt, first, opened);
  let tokens: OAuthCredential;
  try {
    tokens = await renew(signal);
  } catch (error) {
    const refused = error instanceof Error && error.name === 'InvalidGrantError';
    deps.onRefresh?.(refused ? 'refused' : 'failed', ref, error);
    return refused ? settleRefused(attempt, opened) : asStored(attempt, await deps.vault.read(ref));
  }
  const version = await saveWithRetries(attempt, tokens, opened?.version ?? 0);
  deps.onRefresh?.(version === undefined ? 'overtaken' : 'refreshed', ref);
  if (version === undefined) return asStored(attempt, await deps.vault.read(ref));
  return { status: 'usable', credential: createSecret(tokens), version };
}

/** Saves with retries: the old tokens are no longer valid, so a short outage of the store must not lose the new ones. */
async function saveWithRetries(
  attempt: RefreshAttempt,
  tokens: OAuthCredential,
  version: number,
): Promise<number | undefined> {
  const { deps, settings, ref } = attempt;
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

function mustRefresh(attempt: RefreshAttempt, first: MaybeCredential, opened: MaybeCredential): boolean {
  return renewalOf(attempt, opened) !== undefined && !isNewSince(attempt, first, opened);
}

/** The call that gets new tokens for a credential. Undefined when none is needed or possible. */
function renewalOf(attempt: RefreshAttempt, opened: MaybeCredential): ObtainCall | undefined {
  const { renewal } = attempt;
  const verdict = opened && judgeOpened(attempt, opened);
  if (typeof renewal !== 'function')
    return verdict === undefined || verdict.next === 'obtain' ? renewal.obtain : undefined;
  if (verdict?.next !== 'refresh') return undefined;
  const { tokens } = verdict;
  return async (signal) => mergeRefreshed(tokens, await renewal(tokens, signal));
}

/** True when the credential was written after the first read, so that a refresh would bring nothing newer. */
function isNewSince({ rejected }: RefreshAttempt, first: MaybeCredential, opened: MaybeCredential): boolean {
  return opened?.state === 'usable' && opened.version !== first?.version && opened.version !== rejected;
}

/** The result of a call that has nothing to refresh. */
async function settleWithoutRefresh(
  attempt: RefreshAttempt,
  first: MaybeCredential,
  opened: MaybeCredential,
): Promise<FreshCredential> {
  if (opened === undefined) return { status: 'absent' };
  const { credential, version, state } = opened;
  const { next } = judgeOpened(attempt, opened);
  if (next !== 'reconnect' && isNewSince(attempt, first, opened))
    return { status: 'usable', credential, version };
  return next === 'reconnect' && state === 'usable'
    ? requireReconnect(attempt, opened)
    : asStored(attempt, opened);
}

/** The result after a refusal. Tokens that were obtained without a person stay valid until they expire. */
async function settleRefused(attempt: RefreshAttempt, opened: MaybeCredential): Promise<FreshCredential> {
  if (opened === undefined) return { status: 'absent' };
  const verdict = judgeOpened(attempt, opened);
  return verdict.next === 'obtain' && verdict.valid
    ? asStored(attempt, opened)
    : requireReconnect(attempt, opened);
}

/** Marks the credential as `reconnect_required`, unless a newer one has been written since it was read. */
async function requireReconnect(
  attempt: RefreshAttempt,
  { version }: OpenedCredential,
): Promise<FreshCredential> {
  const { deps, ref } = attempt;
  if (await deps.vault.markReconnect(ref, version)) return { status: 'reconnect_required', version };
  return asStored(attempt, await deps.vault.read(ref));
}

/** The result without a further refresh: the credential is usable as long as it is valid. */
function asStored(attempt: RefreshAttempt, opened: MaybeCredential): FreshCredential {
  if (opened === undefined) return { status: isObtained(attempt) ? 'unavailable' : 'absent' };
  const verdict = judgeOpened(attempt, opened);
  const { credential, version } = opened;
  if (verdict.next === 'reconnect') return { status: 'reconnect_required', version };
  if (verdict.next !== 'use' && !verdict.valid) return { status: 'unavailable' };
  return { status: 'usable', credential, version };
}

function judgeOpened(attempt: RefreshAttempt, opened: OpenedCredential): Verdict {
  const { rejected, skewMs } = attempt;
  return judge({ opened, rejected, skewMs, isObtained: isObtained(attempt) });
}

function isObtained({ renewal }: RefreshAttempt): boolean {
  return typeof renewal !== 'function';
}
