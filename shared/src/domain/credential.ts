import type { Owner } from '@parley/core/domain/ids';
import { z } from 'zod';

/** An authorization server that was discovered, and Parley as its client. Sealed with what was obtained from it. */
export const OAuthGrantor = z.object({
  issuer: z.string(),
  authorizationEndpoint: z.string(),
  tokenEndpoint: z.string(),
  revocationEndpoint: z.string().optional(),
  /** True when it sends `iss` with every authorization response (RFC 9207). */
  sendsIssuer: z.boolean(),
  /** Algorithms of its ID tokens. */
  idTokenAlgorithms: z.array(z.string()).optional(),
  clientId: z.string(),
  /** Absent for a public client. */
  clientSecret: z.string().optional(),
  clientAuthentication: z.enum(['basic', 'post']).optional(),
  /** The API that the tokens are for (RFC 8707). */
  resource: z.string(),
});
export type OAuthGrantor = z.infer<typeof OAuthGrantor>;

/** Tokens from an OAuth 2 authorization server. */
const OAuthCredential = z.object({
  kind: z.literal('oauth2'),
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  /** The scheme under which the access token is sent; `Bearer` for nearly all servers. */
  tokenType: z.string().default('Bearer'),
  /** The private key (JWK) to which the tokens are bound (DPoP, RFC 9449). */
  proofKey: z.string().optional(),
  /** When the access token expires, in ms since 1970; of a stored credential on the clock of its store. Absent when the server does not state it. */
  expiresAt: z.number().optional(),
  /** Granted scopes, separated by spaces. */
  scope: z.string().optional(),
  /** Absent when the configuration names the server and the client. */
  grantor: OAuthGrantor.optional(),
  /** Present when the project's own client obtained it, without a person. */
  obtained: z.object({ issuer: z.string(), clientId: z.string(), resource: z.string() }).optional(),
  /** Present when the person's company sign-in obtained it, which obtains the next one as well. */
  managed: z.literal(true).optional(),
});

/** A key that a person entered on the hosted page. */
const ApiKeyCredential = z.object({ kind: z.literal('api_key'), value: z.string() });

/** A connection that Nango stores. Its tokens are fetched from Nango when a call needs them. */
const NangoCredential = z.object({
  kind: z.literal('nango'),
  connectionId: z.string(),
  providerConfigKey: z.string(),
});

/**
 * Stands in place of a credential that the person's company sign-in must not obtain: the person disconnected the account, or
 * an authorization server refused it. What the person connects replaces it. No call ever presents it.
 */
const WithheldCredential = z.object({
  kind: z.literal('withheld'),
  why: z.enum(['disconnected', 'refused']),
});

/** Lets a tool act for a person. It leaves the vault only for the call that needs it. */
export const Credential = z.discriminatedUnion('kind', [
  OAuthCredential,
  ApiKeyCredential,
  NangoCredential,
  WithheldCredential,
]);
export type Credential = z.infer<typeof Credential>;
export type OAuthCredential = z.infer<typeof OAuthCredential>;

/** The owner of what Parley obtains for the project itself. No token can name this tenant. */
export const PROJECT: Owner = { tenant: '\u0000project', userId: 'project' };

/** Identifies a credential: its owner, its tool, and the connector that obtained it. */
export interface CredentialRef extends Owner {
  readonly toolId: string;
  readonly connectorId: string;
}

/** The credential to send with the calls of a person's tool, or why there is none. */
export type Presentation =
  | {
      readonly type: 'presented';
      /** The values are secrets. */
      readonly headers: Readonly<Record<string, string>>;
      /** A secret: the key that proves the possession of the token with each request (DPoP); absent where none is bound. */
      readonly proofKey?: string;
      readonly version: number;
      /** Its scopes, separated by spaces; present where the person can be asked for more of them. */
      readonly scope?: string;
    }
  /** The person has not connected yet, has to connect again, or the provider cannot be reached at present. */
  | { readonly type: 'absent' | 'reconnect_required' | 'unavailable' };

/**
 * The `context.toolId` of a question for a secret that one tool may use once. No configured server can have this id.
 * Such a secret is only staged, under the id of its elicitation, and never becomes a credential.
 */
export const SECRET_TOOL_ID = 'parley:secret';

/** The tool and the connector under which a person's company sign-in is stored. No configured server can have this id. */
export const SIGN_IN = { toolId: 'parley:sign-in', connectorId: 'sign-in' } as const;
