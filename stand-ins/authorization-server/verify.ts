interface VerifierOptions {
  readonly issuer: string;
  /** The API's own client at the authorization server. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** The API's own identifier, if tokens must be meant for it (RFC 8707). */
  readonly resource?: string;
}

/** The user of a token, or the client that has it for itself. */
export interface VerifiedToken {
  readonly subject: string;
  readonly scopes: readonly string[];
  /** The thumbprint of the key to which the token is bound (DPoP). */
  readonly boundTo?: string;
}

interface IntrospectedToken {
  readonly active?: boolean;
  readonly sub?: string;
  readonly client_id?: string;
  readonly scope?: string;
  readonly aud?: string;
  readonly cnf?: { readonly jkt?: string };
}

/**
 * Asks the authorization server about tokens, like an API that cannot read them (RFC 7662). Undefined for a token that is
 * unknown, expired, revoked or meant for another API. Rejects if the server does not answer.
 */
export function createTokenVerifier(
  options: VerifierOptions,
): (token: string) => Promise<VerifiedToken | undefined> {
  const { issuer, clientId, clientSecret, resource } = options;
  const secret = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');

  return async (token) => {
    const response = await fetch(`${issuer}/token/introspection`, {
      method: 'POST',
      headers: { authorization: `Basic ${secret}` },
      body: new URLSearchParams({ token }),
      signal: AbortSignal.timeout(5_000),
    });
    if (!response.ok) throw new Error(`introspection answered with ${response.status}`);
    const reply = (await response.json()) as IntrospectedToken;
    const subject = reply.sub ?? reply.client_id;
    if (reply.active !== true || subject === undefined) return undefined;
    if (resource !== undefined && reply.aud !== resource) return undefined;
    const boundTo = reply.cnf?.jkt;
    return { subject, scopes: reply.scope?.split(' ') ?? [], ...(boundTo !== undefined && { boundTo }) };
  };
}
