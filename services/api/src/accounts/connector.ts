/**
 * The interface of all connectors, and the types of what goes in and out of them. How a credential is obtained is in
 * `connectors/`, how it is stored in `shared/src/vault`.
 */

import type { Owner } from '@parley/core/domain/ids';
import type { Credential } from '@parley/shared/domain/credential';

/** The attempt to connect that a connector begins. */
interface ConnectContext {
  /** Opaque id of the attempt, at most 200 characters. Providers may return it; the elicitation's id can serve as it. */
  readonly flowId: string;
  readonly tenant: string;
  /** Scopes that the question asks for, separated by spaces; absent where the connector chooses. */
  readonly scope?: string | undefined;
}

/**
 * The values that a connector needs again when the person returns: PKCE verifier, nonce, state. They are kept sealed on the
 * server, and only the connector that wrote them reads them.
 */
export type CallbackState = Readonly<Record<string, string>>;

/** The browser is redirected to the provider. */
export interface Redirect {
  readonly type: 'redirect';
  /** May be a bearer link (Nango): give it only to the browser that was identified, and never show or log it. */
  readonly url: string;
  /**
   * At least 128 random bits, by which the callback finds its flow. Absent when the provider does not send the
   * browser back: the flow then ends by `webhook`, or by `poll` when that is lost.
   */
  readonly state?: string;
  readonly callbackState: CallbackState;
}

/** The person types one secret into Parley's own page. */
export interface SecretForm {
  readonly type: 'form';
  readonly field: { readonly label: string; readonly help?: string; readonly lengthMax: number };
  readonly callbackState: CallbackState;
}

/**
 * The result of the person's step: the callback's URL (only its query counts), the typed secret, or an event from `webhook`.
 */
type FinishInput =
  | { readonly type: 'callback'; readonly url: string }
  | { readonly type: 'form'; readonly secret: string }
  | { readonly type: 'event'; readonly event: ConnectorEvent };

/** A provider's verified report that a flow has ended. */
export interface ConnectorEvent {
  readonly connectionId: string;
  readonly flowId: string;
  readonly tenant: string;
}

export interface Connected {
  readonly type: 'connected';
  readonly credential: Credential;
  /** Scopes that were requested and not granted. */
  readonly withheldScopes: readonly string[];
}

export type FailureCode =
  /** The person refused consent at the provider. */
  | 'consent_refused'
  /** The provider answered with an error, or with an invalid response. */
  | 'provider_error'
  /** The callback belongs to another flow, another connector or none. */
  | 'bad_state'
  /** The answer names another issuer than the one asked (RFC 9207). */
  | 'bad_issuer'
  /** The typed key is malformed, or the provider rejects it. */
  | 'rejected_key'
  /** The provider could not be reached in time, or reported that it is unavailable. */
  | 'unavailable';

/** Why nothing was connected. Contains no data that a provider or a person sent. */
export interface ConnectorFailure {
  readonly type: 'failed';
  readonly code: FailureCode;
  /** One sentence for logs. */
  readonly detail: string;
  /** The provider's error code, when it is one of the registered ones. */
  readonly providerError?: string;
}

/** Why a stored credential cannot be used: permanently (`invalid_grant`: ask the person again), or for now. */
export interface CredentialFailure {
  readonly type: 'failed';
  readonly code: 'invalid_grant' | 'unavailable';
  readonly detail: string;
  readonly providerError?: string;
}

export interface Refreshed {
  readonly type: 'refreshed';
  /** Replaces the whole old credential, whose refresh token may already be invalid. */
  readonly credential: Credential;
}

export interface Presented {
  readonly type: 'presented';
  /** Names are in lower case; values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** A secret: the key that proves possession of the token in each request (DPoP). */
  readonly proofKey?: string;
  /** When the headers stop working, in ms since 1970, if known. */
  readonly expiresAt?: number;
  /** The scopes of the credential, separated by spaces; present where the connector can ask for more of them. */
  readonly scope?: string;
}

export type WebhookVerdict =
  | { readonly type: 'refused'; readonly reason: 'signature' | 'body' }
  /** The webhook is genuine, and reports nothing that concerns Parley. */
  | { readonly type: 'ignored' }
  /** `eventId` is the same for repeats of one event. Find the flow, then call `finish` with the event. */
  | { readonly type: 'event'; readonly eventId: string; readonly event: ConnectorEvent };

export type IncomingHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The facts that a consent page may show before the person agrees. */
interface ConnectorDescription {
  /** The origin to which the person will be sent; absent for a form, or when the provider cannot be reached. */
  readonly origin?: string;
  readonly scopes: readonly string[];
}

/**
 * One way to get, keep and use a credential. A connector keeps no state of a flow, so one pod may finish what another began. No
 * method rejects because of what a provider or a person did. Results contain secrets only where their type says so.
 */
export interface Connector {
  readonly id: string;
  readonly kind: Credential['kind'];
  describe(asked?: Pick<ConnectContext, 'scope'>): Promise<ConnectorDescription>;
  begin(context: ConnectContext): Promise<Redirect | SecretForm | ConnectorFailure>;
  /** May be called twice. A provider that accepts a code only once answers the second call with `provider_error`. */
  finish(input: FinishInput, callbackState: CallbackState): Promise<Connected | ConnectorFailure>;
  /**
   * A fresh credential. Call it at most once at a time for each credential, as the vault does. After the signal is aborted, no
   * request leaves that could use up a refresh token.
   */
  refresh(credential: Credential, signal?: AbortSignal): Promise<Refreshed | CredentialFailure>;
  /** Best effort: tells the provider that the credential is no longer wanted. */
  revoke(credential: Credential): Promise<'revoked' | 'unsupported' | 'unavailable'>;
  /** The headers for a request that uses the credential. */
  headersFor(credential: Credential): Promise<Presented | CredentialFailure>;
  /**
   * For owners whose company sign-in connects the account: obtains new tokens by the sign-in, without a question.
   * `invalid_grant`: the provider of the sign-in or the authorization server refuses. `scope` lists scopes that the tokens need
   * in addition to those always requested.
   */
  obtainFor?(owner: Owner, scope?: string): Promise<Refreshed | CredentialFailure>;
  /** For providers that report by webhook: checks whether the flow has ended. */
  poll?(callbackState: CallbackState): Promise<Connected | { readonly type: 'pending' } | ConnectorFailure>;
  /** For providers that report by webhook: `raw` is the body as received, byte for byte. */
  webhook?(raw: Uint8Array, headers: IncomingHeaders): WebhookVerdict;
  /** For connectors whose client id is a URL of Parley: the public document at that URL. */
  clientMetadata?(): Readonly<Record<string, unknown>> | undefined;
}

/** One way to get and use a credential of the project itself, without a person. */
export interface ProjectConnector extends Pick<Connector, 'headersFor'> {
  /**
   * Obtains new tokens. `scope` lists scopes that they need in addition to those always requested. After the signal is aborted,
   * no request leaves.
   */
  obtain(signal: AbortSignal, scope?: string): Promise<Refreshed | CredentialFailure>;
}

/** Makes a failure to connect. */
export function failure(code: FailureCode, detail: string, providerError?: string): ConnectorFailure {
  return { type: 'failed', code, detail, ...(providerError !== undefined && { providerError }) };
}

/** Makes a failure of a stored credential. */
export function credentialFailure(
  code: CredentialFailure['code'],
  detail: string,
  providerError?: string,
): CredentialFailure {
  return { type: 'failed', code, detail, ...(providerError !== undefined && { providerError }) };
}

/**
 * The failure for a credential that another connector obtained: the configuration has changed, so the person is asked again.
 */
export function foreignCredential(): CredentialFailure {
  return credentialFailure(
    'invalid_grant',
    'the stored credential is not one of the connector as it is configured',
  );
}
