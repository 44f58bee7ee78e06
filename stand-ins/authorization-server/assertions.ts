/** The grants of company sign-ins for the stand-in authorization server. Ordinary grants are oidc-provider's own. */

import type { KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, createRemoteJWKSet, EmbeddedJWK, jwtVerify, SignJWT } from 'jose';
import { errors, type Provider } from 'oidc-provider';
import { JWT_BEARER } from './workloads.ts';

/** The uses that a company permits for its people's sign-ins. Tests change it while the server runs. */
export interface CompanyPolicy {
  /** Parley's client id at each authorization server for which assertions are issued, by issuer. */
  readonly clients: Map<string, string>;
  /** The people whose exchange is refused, with the error code. */
  readonly refused: Map<string, string>;
}

export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';
const TYPE = 'oauth-id-jag+jwt';

interface ExchangeParameters {
  readonly subject_token?: string;
  readonly subject_token_type?: string;
  readonly requested_token_type?: string;
  readonly audience?: string;
  readonly resource?: string;
}

/** The token exchange of a company's sign-in (RFC 8693): a client's ID token for an assertion (ID-JAG). */
export function issueAssertions(
  provider: Provider,
  { privateKey, publicKey }: { readonly privateKey: KeyObject; readonly publicKey: KeyObject },
  policy: CompanyPolicy,
): void {
  provider.registerGrantType<ExchangeParameters>(
    TOKEN_EXCHANGE,
    async (ctx) => {
      const { client, params } = ctx.oidc;
      const { subject_token: idToken = '', audience = '', resource, scope } = params;
      if (params.subject_token_type !== ID_TOKEN || params.requested_token_type !== ID_JAG)
        throw new errors.InvalidRequest('only an ID token is exchanged, and only for an ID-JAG');
      const expected = { issuer: provider.issuer, audience: client.clientId };
      const { payload } = await jwtVerify(idToken, publicKey, expected).catch(() => {
        throw new errors.InvalidGrant('the ID token is not accepted');
      });
      const refusal = policy.refused.get(payload.sub ?? '');
      if (refusal !== undefined) throw new errors.CustomOIDCProviderError(refusal, 'the company refuses');
      const clientId = policy.clients.get(audience);
      if (clientId === undefined) throw new errors.InvalidTarget('no such authorization server');
      const assertion = await new SignJWT({ client_id: clientId, resource, ...(scope && { scope }) })
        .setProtectedHeader({ alg: 'ES256', typ: TYPE, kid: 'stand-in' })
        .setIssuer(provider.issuer)
        .setSubject(payload.sub ?? '')
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime('5m')
        .setJti(crypto.randomUUID())
        .sign(privateKey);
      ctx.body = { access_token: assertion, issued_token_type: ID_JAG, token_type: 'N_A', expires_in: 300 };
    },
    ['subject_token', 'subject_token_type', 'requested_token_type', 'audience', 'resource', 'scope'],
  );
}

/** Accepts a company's assertions as grants (RFC 7523), each only once. A client that proves a key gets a token bound to it. */
export function acceptAssertions(provider: Provider, company: string): void {
  const keys = createRemoteJWKSet(new URL(`${company}/jwks`));
  const used = new Set<string>();
  provider.registerGrantType<{ assertion?: string; resource?: string }>(
    JWT_BEARER,
    async (ctx) => {
      const { client, params } = ctx.oidc;
      const rules = { issuer: company, audience: provider.issuer, typ: TYPE };
      const { payload } = await jwtVerify(params.assertion ?? '', keys, rules).catch(() => {
        throw new errors.InvalidGrant('the assertion is not accepted');
      });
      const {
        sub = '',
        jti = '',
        scope = '',
        resource = '',
        client_id: clientId,
      } = payload as typeof payload & {
        readonly [name in 'scope' | 'resource' | 'client_id']?: string;
      };
      if (clientId !== client.clientId || used.has(jti)) throw new errors.InvalidGrant('not for this use');
      used.add(jti);
      const grant = new provider.Grant({ clientId: client.clientId, accountId: sub });
      grant.addResourceScope(resource, scope);
      const grantId = await grant.save();
      const token = new provider.AccessToken({ client, accountId: sub, grantId, scope, gty: JWT_BEARER });
      token.aud = resource;
      const proof = ctx.get('dpop');
      const bound = proof !== '' && (await jwtVerify(proof, EmbeddedJWK)).protectedHeader.jwk;
      if (bound) token.setThumbprint('jkt', await calculateJwkThumbprint(bound));
      const value = await token.save();
      const type = bound ? 'DPoP' : 'Bearer';
      ctx.body = { access_token: value, token_type: type, expires_in: token.expiration, scope };
    },
    ['assertion', 'resource'],
  );
}
