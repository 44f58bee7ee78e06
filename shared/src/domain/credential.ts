import { z } from 'zod';
import type { Owner } from './ids.ts';

/** Tokens from an OAuth 2 authorization server. */
const OAuthCredential = z.object({
  kind: z.literal('oauth2'),
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  /** How the access token is presented; `Bearer` for nearly everybody. */
  tokenType: z.string().default('Bearer'),
  /** When the access token ends, ms since 1970; absent when the server does not say. */
  expiresAt: z.number().optional(),
  /** Granted scopes, separated by spaces. */
  scope: z.string().optional(),
});

/** A key that a person pasted into the hosted page. */
const ApiKeyCredential = z.object({ kind: z.literal('api_key'), value: z.string() });

/** A connection that Nango keeps; its tokens are fetched from there when needed. */
const NangoCredential = z.object({
  kind: z.literal('nango'),
  connectionId: z.string(),
  providerConfigKey: z.string(),
});

/** What lets a tool act for a person. Never leaves the vault but to the call that needs it. */
export const Credential = z.discriminatedUnion('kind', [OAuthCredential, ApiKeyCredential, NangoCredential]);
export type Credential = z.infer<typeof Credential>;
export type OAuthCredential = z.infer<typeof OAuthCredential>;

/** Whose credential, for which tool, got by which connector. */
export interface CredentialRef extends Owner {
  readonly toolId: string;
  readonly connectorId: string;
}

/** What the calls of a person's tool may carry. */
export type Presentation =
  | {
      readonly type: 'presented';
      /** Values are secrets. */
      readonly headers: Readonly<Record<string, string>>;
      readonly version: number;
    }
  /** The person has not connected yet, has to connect anew, or the provider cannot be reached right now. */
  | { readonly type: 'absent' | 'reconnect_required' | 'unavailable' };

/**
 * The `context.toolId` of a question for a secret that one tool may use once. No server of a configuration can have this
 * id. Such a secret is only ever staged, under its elicitation's id, and never becomes a credential.
 */
export const SECRET_TOOL_ID = 'parley:secret';
