import type { SECRET_TOOL_ID } from '@parley/shared/domain/credential';
import type { Connector } from './connector.ts';

/** A service that a person can connect, for tools to act in their name. */
export interface CredentialTarget {
  readonly kind: 'credential';
  /** Under which the credential is kept. */
  readonly toolId: string;
  /** Title of the service, for people. */
  readonly service: string;
  readonly connector: Connector;
}

/** A secret that one tool may use once. It is typed into our page, kept for a while, and never a credential. */
interface SecretTarget {
  readonly kind: 'secret';
  readonly toolId: typeof SECRET_TOOL_ID;
  readonly connector: Connector;
}

/** What a hosted page may be about. */
export type AccountTarget = CredentialTarget | SecretTarget;

/** The connectable services of the deployment; the pages take all facts about them from here, none from a URL. */
export interface AccountTargets {
  /** Every service that can be connected, in the order of the configuration. */
  credentials(): readonly CredentialTarget[];
  /** By the `context.toolId` of a question. */
  find(toolId: string): AccountTarget | undefined;
  /** By its id, whatever uses it: for webhooks and for what is left to be revoked. */
  connector(connectorId: string): Connector | undefined;
}
