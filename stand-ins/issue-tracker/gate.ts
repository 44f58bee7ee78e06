import { createHash } from 'node:crypto';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose';

/** The user of a token. */
export interface Bearer {
  readonly subject: string;
  readonly scopes: readonly string[];
  /** The thumbprint of the key to which the token is bound (DPoP). */
  readonly boundTo?: string;
}

/** Returns the user of a token; undefined for one that is wrong, expired or revoked. An exception means an outage. */
export type Verify = (token: string) => Promise<Bearer | undefined> | Bearer | undefined;

export interface Gate {
  readonly verify: Verify;
  /** Scopes that a token must have. */
  readonly scopes: readonly string[];
  /** The address of the protected resource metadata (RFC 9728). */
  readonly metadataUrl: string;
  /** True if only tokens bound to a key are accepted, which each request must prove (DPoP, RFC 9449). */
  readonly bound: boolean;
}

/** The user of a request; or the reply that refuses the request. */
export type Admission =
  | { readonly kind: 'admitted'; readonly bearer: Bearer; readonly authInfo: AuthInfo }
  | { readonly kind: 'no-token' | 'bad-token' | 'scope' | 'outage'; readonly reply: Response };

/**
 * Admits a request by its bearer token (RFC 6750). Refusals contain the address of the metadata, as MCP's authorization
 * requires.
 */
export async function admit(request: Request, gate: Gate): Promise<Admission> {
  const scheme = gate.bound ? /^dpop +(\S+)$/i : /^bearer +(\S+)$/i;
  const token = scheme.exec(request.headers.get('authorization') ?? '')?.[1];
  if (token === undefined) return { kind: 'no-token', reply: challenge(gate, 401) };
  const bearer = await verified(gate.verify, token);
  if (bearer === 'outage') return { kind: 'outage', reply: new Response(null, { status: 503 }) };
  if (bearer === undefined) return { kind: 'bad-token', reply: challengeBadToken(gate) };
  if (gate.bound && !(await isProven(request, token, bearer)))
    return { kind: 'bad-token', reply: challengeBadToken(gate) };
  if (!gate.scopes.every((scope) => bearer.scopes.includes(scope)))
    return { kind: 'scope', reply: challenge(gate, 403, 'insufficient_scope') };
  const { subject, scopes } = bearer;
  return {
    kind: 'admitted',
    bearer,
    authInfo: { token, clientId: subject, scopes: [...scopes], extra: { subject } },
  };
}

/** The reply to a token that is invalid or has expired. */
export function challengeBadToken(gate: Gate): Response {
  return challenge(gate, 401, 'invalid_token');
}

async function verified(verify: Verify, token: string): Promise<Bearer | 'outage' | undefined> {
  try {
    return await verify(token);
  } catch {
    return 'outage';
  }
}

/** True if the request contains a new proof by the key of its token. */
async function isProven(request: Request, token: string, { boundTo }: Bearer): Promise<boolean> {
  const proof = request.headers.get('dpop') ?? '';
  const verified = await jwtVerify(proof, EmbeddedJWK, { typ: 'dpop+jwt', maxTokenAge: 60 }).catch(
    () => undefined,
  );
  const { payload, protectedHeader } = verified ?? {};
  const { origin, pathname } = new URL(request.url);
  return (
    payload?.htm === request.method &&
    payload.htu === `${origin}${pathname}` &&
    payload.ath === createHash('sha256').update(token).digest('base64url') &&
    (await calculateJwkThumbprint(protectedHeader?.jwk ?? {})) === boundTo
  );
}

// RFC 6750: a request without a token gets no error code.
function challenge({ metadataUrl, scopes, bound }: Gate, status: number, error?: string): Response {
  const parameters = [
    ...(error === undefined ? [] : [`error="${error}"`]),
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(' ')}"`]),
    `resource_metadata="${metadataUrl}"`,
  ];
  return Response.json(error === undefined ? {} : { error }, {
    status,
    headers: { 'www-authenticate': `${bound ? 'DPoP' : 'Bearer'} ${parameters.join(', ')}` },
  });
}
