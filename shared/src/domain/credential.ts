/**
 * The schemas of everything that the vault stores, so that all pods and versions agree on it. How credentials are obtained,
 * sealed or refreshed is not here.
 */

import type { Owner } from '@parley/core/domain/ids';
import { z } from 'zod';

/**
 * A discovered authorization server, and Parley's registration as its client. It is sealed with the tokens from that server.
 */
export const OAuthGrantor = z.object({
  issuer: z.string(),
  authorizationEndpoint: z.string(),
  tokenEndpoint: z.string(),
  revocationEndpoint: z.string().optional(),
  /** True when the server sends `iss` with every authorization response (RFC 9207). */
  sendsIssuer: z.boolean(),
  /** The signature algorithms of its ID tokens. */
  idTokenAlgorithms: z.array(z.string()).optional(),
  clientId: z.string(),
  /** Absent for a public client. */
  clientSecret: z.string().optional(),
  clientAuthentication: z.enum(['basic', 'post']).optional(),
  /** The API for which the tokens are issued (RFC 8707). */
  resource: z.string(),
});
export type OAuthGrantor = z.infer<typeof OAuthGrantor>;

/** Tokens from an OAuth 2 authorization server. */
const OAuthCredential = z.object({
  kind: z.literal('oauth2'),
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  /** The authorization scheme of the access token; `Bearer` for nearly all servers. */
  tokenType: z.string().default('Bearer'),
  /** The private key (JWK) to which the tokens are bound (DPoP, RFC 9449). */
  proofKey: z.string().optional(),
  /**
   * When the access token expires, in ms since 1970. In a stored credential, this follows the clock of the store. Absent when
   * the server does not state it.
   */
  expiresAt: z.number().optional(),
  /** Granted scopes, separated by spaces. */
  scope: z.string().optional(),
  /** Absent when the configuration names the server and the client. */
  grantor: OAuthGrantor.optional(),
  /** Present when the project's own client obtained the tokens, without a person. */
  obtained: z.object({ issuer: z.string(), clientId: z.string(), resource: z.string() }).optional(),
  /** Present when the person's company sign-in obtained the tokens; it then also obtains their successors. */
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
 * A marker that the person's company sign-in must not obtain this credential, because the person disconnected the account or an
 * authorization server refused it. Connecting again replaces the marker. It is never sent with a call.
 */
const WithheldCredential = z.object({
  kind: z.literal('withheld'),
  why: z.enum(['disconnected', 'refused']),
});

/** What lets a tool act for a person. It leaves the vault only for a call that needs it. */
export const Credential = z.discriminatedUnion('kind', [
  OAuthCredential,
  ApiKeyCredential,
  NangoCredential,
  WithheldCredential,
]);
export type Credential = z.infer<typeof Credential>;
export type OAuthCredential = z.infer<typeof OAuthCredential>;

/** The owner of credentials that Parley obtains for the project itself. No token can name this tenant. */
export const PROJECT: Owner = { tenant: '\u0000project', userId: 'project' };

/** Identifies a credential by its owner, its tool and the connector that obtained it. */
export interface CredentialRef extends Owner {
  readonly toolId: string;
  readonly connectorId: string;
}

/** The credential to send with a call of a person's tool, or the reason why there is none. */
export type Presentation =
  | {
      readonly type: 'presented';
      /** HTTP headers with secret values. */
      readonly headers: Readonly<Record<string, string>>;
      /**
       * The secret key that proves possession of the token in each request (DPoP); absent when the token is not bound to a key.
       */
      readonly proofKey?: string;
      readonly version: number;
      /** The granted scopes, separated by spaces; present when the person can be asked for more. */
      readonly scope?: string;
    }
  /**
   * `absent`: the person has not connected yet. `reconnect_required`: they have to connect again. `unavailable`: the provider
   * cannot be reached.
   */
  | { readonly type: 'absent' | 'reconnect_required' | 'unavailable' };

/**
 * The `context.toolId` of a question for a secret that one tool may use once. Such a secret is only staged, under the id of its
 * elicitation, and never becomes a credential. No configured server can have this id.
 */
export const SECRET_TOOL_ID = 'parley:secret';

/**
 * The tool id and connector id under which a person's company sign-in is stored. No configured server can have this tool id.
 */
export const SIGN_IN = { toolId: 'parley:sign-in', connectorId: 'sign-in' } as const;
