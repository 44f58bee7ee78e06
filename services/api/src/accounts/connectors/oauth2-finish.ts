/**
 * Handles a provider's answer at the callback, from the state to the tokens. Beginning a flow, refreshing and revoking are in
 * `oauth2.ts`.
 */

import { authorizationCodeGrant, type Configuration } from 'openid-client';
import { z } from 'zod';
import { type CallbackState, type Connected, type ConnectorFailure, failure } from '../connector.ts';
import { faultOf, publicErrorCode } from '../oauth/oauth2-errors.ts';
import type { OAuth2Options } from '../oauth/oauth2-options.ts';
import { credentialOf, scopesOf } from '../oauth/oauth2-tokens.ts';
import { provingWith } from '../oauth/proof-key.ts';
import { equalSecrets } from '../oauth/secret-text.ts';

const KeptFlow = z.object({
  connectorId: z.string(),
  state: z.string().min(22),
  verifier: z.string().min(43),
  issuer: z.string(),
  redirectUri: z.string(),
  nonce: z.string().min(22).optional(),
  /** The DPoP key; present where the tokens are to be bound to it. */
  proofKey: z.string().optional(),
});
type KeptFlow = z.infer<typeof KeptFlow>;

interface Callback {
  readonly server: Configuration;
  readonly options: OAuth2Options;
  readonly extra: Readonly<Record<string, string>>;
  readonly url: string;
  readonly callbackState: CallbackState;
}

interface CallbackAnswer {
  readonly type: 'answer';
  readonly code: string;
  readonly issuer: string | undefined;
}

/**
 * Handles the provider's answer at the callback: checks the state and the issuer, reads the error or the code, then exchanges
 * the code for tokens.
 */
export async function finishAuthorization(callback: Callback): Promise<Connected | ConnectorFailure> {
  const parsed = KeptFlow.safeParse(callback.callbackState);
  if (!parsed.success || parsed.data.connectorId !== callback.options.id)
    return failure('bad_state', 'the flow belongs to another connector');
  const answer = readAnswer(callback, parsed.data);
  return answer.type === 'failed' ? answer : exchange(callback, parsed.data, answer);
}

function readAnswer(
  { url, server, options }: Callback,
  callbackState: KeptFlow,
): CallbackAnswer | ConnectorFailure {
  if (!URL.canParse(url, callbackState.redirectUri)) return failure('bad_state', 'the callback is no URL');
  const { searchParams } = new URL(url, callbackState.redirectUri);
  const single = (name: string) => {
    const values = searchParams.getAll(name);
    return values.length === 1 ? values[0] : undefined;
  };
  const state = single('state');
  if (state === undefined || !equalSecrets(state, callbackState.state))
    return failure('bad_state', 'the state is missing or not the one that was sent');

  const metadata = server.serverMetadata();
  if (callbackState.issuer !== metadata.issuer)
    return failure('bad_issuer', 'the issuer changed during the flow');
  const named = options.server.issuer !== undefined;
  const issuer = named ? single('iss') : undefined;
  const always = metadata.authorization_response_iss_parameter_supported === true;
  if (named && (always || searchParams.has('iss')) && issuer !== callbackState.issuer)
    return failure('bad_issuer', 'iss is missing or names another issuer than the one asked');

  const error = searchParams.get('error');
  if (error !== null) {
    return error === 'access_denied'
      ? failure('consent_refused', 'the person said no at the provider', error)
      : failure('provider_error', 'the provider answered with an error', publicErrorCode(error));
  }
  const code = single('code');
  if (code === undefined || code === '') return failure('provider_error', 'the provider sent no code');
  return { type: 'answer', code, issuer };
}

async function exchange(
  { server, options, extra }: Callback,
  callbackState: KeptFlow,
  { code, issuer }: CallbackAnswer,
): Promise<Connected | ConnectorFailure> {
  // The URL is built from the stored redirect URI, because openid-client repeats its path as `redirect_uri`. Behind a proxy the
  // requested address may differ.
  const url = new URL(callbackState.redirectUri);
  url.searchParams.set('code', code);
  url.searchParams.set('state', callbackState.state);
  if (issuer !== undefined) url.searchParams.set('iss', issuer);
  try {
    const tokens = await authorizationCodeGrant(
      server,
      url,
      {
        pkceCodeVerifier: callbackState.verifier,
        expectedState: callbackState.state,
        ...(callbackState.nonce !== undefined && {
          expectedNonce: callbackState.nonce,
          idTokenExpected: true,
        }),
      },
      extra,
      await provingWith(server, callbackState.proofKey),
    );
    const credential = credentialOf(tokens, {
      scopes: options.scopes,
      nowMs: Date.now(),
      ...(callbackState.proofKey !== undefined && { proofKey: callbackState.proofKey }),
    });
    if (credential === undefined) return failure('provider_error', 'the token is not one to present');
    const granted = new Set(scopesOf(credential.scope ?? ''));
    // Many providers grant a refresh token for this scope without listing the scope in their reply.
    if (tokens.refresh_token !== undefined) granted.add('offline_access');
    const withheldScopes = options.scopes.filter((scope) => !granted.has(scope));
    return { type: 'connected', credential, withheldScopes };
  } catch (error) {
    const { kind, providerError } = faultOf(error);
    return kind === 'unavailable'
      ? failure('unavailable', 'the token endpoint gave no answer', providerError)
      : failure('provider_error', `the token endpoint's answer is ${kind}`, providerError);
  }
}
