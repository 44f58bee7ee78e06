import { jsonIn } from '@parley/core/domain/parsed';
import { z } from 'zod';

/** The authorization server, MCP server and client for which an assertion is requested. */
export interface GrantTarget {
  /** The issuer of the MCP server's authorization server. */
  readonly audience: string;
  /** The identifier of the MCP server (RFC 9728). */
  readonly resource: string;
  /** Parley's id at that authorization server. */
  readonly clientId: string;
  readonly scopes: readonly string[];
}

/** The token type that servers use for an Identity Assertion JWT Authorization Grant. */
export const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const TYPE = 'oauth-id-jag+jwt';

const OneOrMore = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat());
const Header = z.object({ typ: z.string() });
const Claims = z.object({
  iss: z.string(),
  aud: OneOrMore,
  client_id: z.string(),
  exp: z.number(),
  resource: OneOrMore.optional(),
});

/**
 * Why an assertion must not be sent to the authorization server of `target`, in words that may be logged. This check keeps
 * assertions for other servers from being sent; the authorization server checks the signature.
 */
export function faultOfIdJag(
  assertion: string,
  issuer: string,
  { audience, resource, clientId }: GrantTarget,
  nowMs: number,
): string | undefined {
  const parts = assertion.split('.');
  const header = Header.safeParse(decoded(parts[0]));
  const claims = Claims.safeParse(decoded(parts[1]));
  if (parts.length !== 3 || !header.success || !claims.success) return 'the assertion is malformed';
  const { iss, aud, client_id, exp, resource: resources = [resource] } = claims.data;
  if (header.data.typ.toLowerCase() !== TYPE) return 'the assertion is of another type';
  if (iss !== issuer) return 'the assertion names another issuer';
  if (aud.length !== 1 || aud[0] !== audience) return 'the assertion is for another audience';
  if (client_id !== clientId) return 'the assertion is for another client';
  if (!resources.includes(resource)) return 'the assertion is for another resource';
  return exp * 1000 <= nowMs ? 'the assertion has expired' : undefined;
}

function decoded(part = ''): unknown {
  return jsonIn(Buffer.from(part, 'base64url').toString('utf8'));
}
