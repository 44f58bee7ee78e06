import type { Owner } from '@parley/core/domain/ids';
import type { Credential } from '@parley/shared/domain/credential';

/** The attempt that a connector begins. */
interface ConnectContext {
  /** Opaque id of the attempt, at most 200 characters; a provider may hand it back (the elicitation's id serves). */
  readonly flowId: string;
  readonly tenant: string;
  /** Scopes that the question asks for, separated by spaces; absent where the connector chooses. */
  readonly scope?: string | undefined;
}

/**
 * What a connector needs back when the person returns: PKCE verifier, nonce, state. Plain strings, to be kept on
 * the server and sealed; only the connector that wrote it reads it.
 */
export type CallbackState = Readonly<Record<string, string>>;

/** The person goes to the provider. */
export interface Redirect {
  readonly type: 'redirect';
  /** May be a bearer link (Nango): to be handed to the one browser that was identified, never shown or logged. */
  readonly url: string;
  /**
   * At least 128 random bits, by which the callback finds its flow. Absent when the provider does not send the
   * browser back: the flow then ends by `webhook`, or by `poll` when that is lost.
   */
  readonly state?: string;
  readonly callbackState: CallbackState;
}

/** The person types one secret into our own page. */
export interface SecretForm {
  readonly type: 'form';
  readonly field: { readonly label: string; readonly help?: string; readonly lengthMax: number };
  readonly callbackState: CallbackState;
}

/** What came back: the callback's URL (only its query counts), the typed secret, or an event from `webhook`. */
type FinishInput =
  | { readonly type: 'callback'; readonly url: string }
  | { readonly type: 'form'; readonly secret: string }
  | { readonly type: 'event'; readonly event: ConnectorEvent };

/** A provider's word, verified, that a flow came to its end. */
export interface ConnectorEvent {
  readonly connectionId: string;
  readonly flowId: string;
  readonly tenant: string;
}

export interface Connected {
  readonly type: 'connected';
  readonly credential: Credential;
  /** Scopes that were asked for and not granted. */
  readonly withheldScopes: readonly string[];
}

export type FailureCode =
  /** The person said no at the provider. */
  | 'consent_refused'
  /** The provider answered with an error, or with something that is no proper answer. */
  | 'provider_error'
  /** The callback belongs to another flow, another connector or none. */
  | 'bad_state'
  /** The answer names another issuer than the one asked (RFC 9207). */
  | 'bad_issuer'
  /** The typed key is malformed, or the provider does not know it. */
  | 'rejected_key'
  /** The provider could not be reached in time, or said that it is down. */
  | 'unavailable';

/** Why nothing was connected. Holds nothing that a provider or a person sent. */
export interface ConnectorFailure {
  readonly type: 'failed';
  readonly code: FailureCode;
  /** One sentence for logs. */
  readonly detail: string;
  /** The provider's error code, when it is one of the registered ones. */
  readonly providerError?: string;
}

/** Why a stored credential is of no use now: gone for good (`invalid_grant`, ask the person again) or later. */
export interface CredentialFailure {
  readonly type: 'failed';
  readonly code: 'invalid_grant' | 'unavailable';
  readonly detail: string;
  readonly providerError?: string;
}

export interface Refreshed {
  readonly type: 'refreshed';
  /** Replaces the old one whole; the old refresh token may be dead already. */
  readonly credential: Credential;
}

export interface Presented {
  readonly type: 'presented';
  /** Lower-case names; values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** A secret: the key that proves the possession of the token with each request (DPoP). */
  readonly proofKey?: string;
  /** When the headers stop working, ms since 1970, if known. */
  readonly expiresAt?: number;
  /** The scopes of the credential, separated by spaces; present where the connector can ask for more of them. */
  readonly scope?: string;
}

export type WebhookVerdict =
  | { readonly type: 'refused'; readonly reason: 'signature' | 'body' }
  /** Genuine, and nothing to us. */
  | { readonly type: 'ignored' }
  /** `eventId` is equal for repeats of the same event. Find the flow, then call `finish` with the event. */
  | { readonly type: 'event'; readonly eventId: string; readonly event: ConnectorEvent };

export type IncomingHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What a consent page may say before anything happens. */
interface ConnectorDescription {
  /** Where the person will be sent, as an origin; absent for a form, or when the provider cannot be reached. */
  readonly origin?: string;
  readonly scopes: readonly string[];
}

/**
 * One way to get, keep and use a credential. Holds no state of a flow: what one pod began, another may finish.
 * No method rejects because of what a provider or a person did; secrets appear in results only where the type
 * says so.
 */
export interface Connector {
  readonly id: string;
  readonly kind: Credential['kind'];
  describe(asked?: Pick<ConnectContext, 'scope'>): Promise<ConnectorDescription>;
  begin(context: ConnectContext): Promise<Redirect | SecretForm | ConnectorFailure>;
  /** Safe to call twice; a provider that takes a code once answers the second call with `provider_error`. */
  finish(input: FinishInput, callbackState: CallbackState): Promise<Connected | ConnectorFailure>;
  /**
   * A fresh credential. At most one call per credential at a time: see the vault. Once the signal has ended, nothing
   * leaves that could use up a refresh token.
   */
  refresh(credential: Credential, signal?: AbortSignal): Promise<Refreshed | CredentialFailure>;
  /** Best effort: tells the provider that the credential is no longer wanted. */
  revoke(credential: Credential): Promise<'revoked' | 'unsupported' | 'unavailable'>;
  /** What to send with a request that uses the credential. */
  headersFor(credential: Credential): Promise<Presented | CredentialFailure>;
  /**
   * Where the company sign-in of the owner connects the account: new tokens by it, without a question. `invalid_grant`: the
   * provider of the sign-in or the authorization server refuses. `scope` lists what they need beside what is requested anyway.
   */
  obtainFor?(owner: Owner, scope?: string): Promise<Refreshed | CredentialFailure>;
  /** For providers that report by webhook: looks whether the flow came to its end. */
  poll?(callbackState: CallbackState): Promise<Connected | { readonly type: 'pending' } | ConnectorFailure>;
  /** For providers that report by webhook: the body as it came, byte for byte. */
  webhook?(raw: Uint8Array, headers: IncomingHeaders): WebhookVerdict;
  /** For connectors whose client id is a URL of Parley: the public document there. */
  clientMetadata?(): Readonly<Record<string, unknown>> | undefined;
}

/** One way to get and use a credential of the project itself, without a person. */
export interface ProjectConnector extends Pick<Connector, 'headersFor'> {
  /** New tokens. `scope` lists what they need beside what is requested anyway. Once the signal has ended, no request leaves. */
  obtain(signal: AbortSignal, scope?: string): Promise<Refreshed | CredentialFailure>;
}

/** A failure to connect. */
export function failure(code: FailureCode, detail: string, providerError?: string): ConnectorFailure {
  return { type: 'failed', code, detail, ...(providerError !== undefined && { providerError }) };
}

/** A failure of a stored credential. */
export function credentialFailure(
  code: CredentialFailure['code'],
  detail: string,
  providerError?: string,
): CredentialFailure {
  return { type: 'failed', code, detail, ...(providerError !== undefined && { providerError }) };
}

/** The answer of a connector to a credential that it did not obtain: its configuration changed since, so ask again. */
export function foreignCredential(): CredentialFailure {
  return credentialFailure(
    'invalid_grant',
    'the stored credential is not one of the connector as it is configured',
  );
}
