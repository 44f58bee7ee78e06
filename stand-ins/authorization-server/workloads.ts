import { type CryptoKey, jwtVerify } from 'jose';
import { errors, type Provider } from 'oidc-provider';

/** A platform whose workloads the server trusts. */
export interface TrustedPlatform {
  /** The `iss` of its tokens. */
  readonly issuer: string;
  readonly publicKey: CryptoKey;
}

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/**
 * The JWT bearer grant (RFC 7523) for workloads. The platform must have signed their token, and it must be meant for this
 * server.
 */
export function acceptWorkloads(provider: Provider, { issuer, publicKey }: TrustedPlatform): void {
  provider.registerGrantType<{ assertion?: string; resource?: string }>(
    JWT_BEARER,
    async (ctx) => {
      const { client, params } = ctx.oidc;
      const { assertion = '', resource, scope } = params;
      await jwtVerify(assertion, publicKey, { issuer, audience: provider.issuer }).catch(() => {
        throw new errors.InvalidGrant('the assertion is not accepted');
      });
      const token = new provider.ClientCredentials({ client, ...(scope !== undefined && { scope }) });
      if (resource !== undefined) token.aud = resource;
      const value = await token.save();
      ctx.body = { access_token: value, token_type: 'Bearer', expires_in: token.expiration, scope };
    },
    ['assertion', 'resource', 'scope'],
  );
}
