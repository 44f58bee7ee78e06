import type { CredentialRef } from '@parley/shared/domain/credential';
import type { FailureCode } from './connector.ts';

/** What happened on the hosted pages, for logs, metrics and audits. Contains no secret and no text of a person. */
export type AccountEvent =
  /** A person other than the owner opened the link of a question, or claimed its connection. */
  | { readonly type: 'mismatch'; readonly elicitationId: string; readonly tenant: string }
  /** A credential became usable. `kept`: the question had already ended. */
  | ({ readonly type: 'completed'; readonly elicitationId: string; readonly kept: boolean } & CredentialRef)
  | { readonly type: 'declined'; readonly elicitationId: string; readonly tenant: string }
  /** An asker made or revoked an answer link, or a browser opened one. `key` names the asker's service key. */
  | {
      readonly type: 'link';
      readonly change: 'made' | 'revoked' | 'opened';
      readonly elicitationId: string;
      readonly tenant: string;
      readonly key?: string | undefined;
    }
  /** A person disconnected an account; `revoked` is what the provider did. */
  | {
      readonly type: 'disconnected';
      readonly toolId: string;
      readonly connectorId: string;
      readonly tenant: string;
      readonly revoked: 'revoked' | 'unsupported' | 'unavailable';
    }
  | {
      readonly type: 'failed';
      /** `sign_in`: the sign-in failed. `dropped`: the question was refused before its credential was obtained. */
      readonly code: FailureCode | 'sign_in' | 'dropped';
      readonly elicitationId?: string;
      readonly connectorId?: string;
      /** One sentence for logs. */
      readonly detail?: string;
      readonly providerError?: string;
    };
