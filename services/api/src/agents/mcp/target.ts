import { sha256 } from '@parley/shared/records/digest';
import type { ConnectionTarget } from './pool.ts';
import type { AskableKinds } from './questions/client-ask.ts';
import type { McpCredential, McpRevision, McpServerConfig } from './server-config.ts';

/** The person whose questions a connection may carry. */
export interface AskedPerson {
  /** Opaque and different for each person. People do not share connections on which the server can ask. */
  readonly person: string;
  /** The kinds of requests that Parley declares to the server; never empty. */
  readonly modes: AskableKinds;
}

/** A server together with the credential to connect with, and the person whom it may ask. */
export interface ServerTarget extends ConnectionTarget {
  readonly config: McpServerConfig;
  readonly credential?: McpCredential | undefined;
  readonly modes?: AskableKinds | undefined;
  /** The only revision for the target's calls, whatever is known about the server. */
  readonly revision?: McpRevision | undefined;
  /**
   * The same for all targets with the same list of tools. A server may offer different tools for each credential and
   * capability.
   */
  readonly listKey: string;
}

/** The target of a handle. A target with a person is used in slots only (`slotOf`). */
export function targetOf(
  config: McpServerConfig,
  credential: McpCredential | undefined,
  asked: AskedPerson | undefined,
): ServerTarget {
  const modes = asked?.modes;
  const kinds = [modes?.form, modes?.url, modes?.services];
  const server = JSON.stringify([config.id, credential?.key ?? '', config.showsPages]);
  const key = asked === undefined ? server : JSON.stringify([server, asked.person, kinds]);
  const headers = Object.entries(credential?.headers ?? {}).sort();
  return {
    key,
    fingerprint: digestOf([key, config.transport, headers]),
    listKey: digestOf([server, config.transport, headers, kinds]),
    config,
    credential,
    modes,
    revision: config.revision,
  };
}

/** The same target with its own connection, for calls in that revision. */
export function inRevision(target: ServerTarget, revision: McpRevision): ServerTarget {
  const { key, fingerprint } = target;
  return { ...target, key: `${key} ${revision}`, fingerprint: `${fingerprint} ${revision}`, revision };
}

/** The same target in one slot, which has its own connection. */
export function slotOf(target: ServerTarget, slot: number): ServerTarget {
  const { key, fingerprint } = target;
  return { ...target, key: `${key} ${slot}`, fingerprint: `${fingerprint} ${slot}` };
}

function digestOf(parts: readonly unknown[]): string {
  return sha256(JSON.stringify(parts));
}
