import type { SECRET_TOOL_ID } from '@parley/shared/domain/credential';
import type { Connector } from './connector.ts';

/** A service that a person can connect, so that tools act in the person's name. */
export interface CredentialTarget {
  readonly kind: 'credential';
  /** The id under which the credential is stored. */
  readonly toolId: string;
  /** Title of the service, for people. */
  readonly service: string;
  readonly connector: Connector;
}

/**
 * A secret that one tool may use once. The person types it into Parley's page. It is stored for a limited time and never
 * becomes a credential.
 */
interface SecretTarget {
  readonly kind: 'secret';
  readonly toolId: typeof SECRET_TOOL_ID;
  readonly connector: Connector;
}

/** The subject of a hosted page. */
export type AccountTarget = CredentialTarget | SecretTarget;

/**
 * The services of the deployment that people can connect. Pages take all facts about services from here, and none from a URL.
 */
export interface AccountTargets {
  /** Every service that can be connected, in the order of the configuration. */
  credentials(): readonly CredentialTarget[];
  /** Finds a target by the `context.toolId` of a question. */
  find(toolId: string): AccountTarget | undefined;
  /** Finds a connector by its id, regardless of who uses it: for webhooks, and for credentials that remain to be revoked. */
  connector(connectorId: string): Connector | undefined;
}
