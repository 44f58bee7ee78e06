import { sha256 } from '@parley/shared/records/digest';
import type { ConnectionTarget } from './pool.ts';
import type { AskableKinds } from './questions/client-ask.ts';
import type { McpCredential, McpRevision, McpServerConfig } from './server-config.ts';

/** Whose questions a connection may carry. */
export interface AskedPerson {
  /** Opaque and different for every person. Connections that can ask are not shared among people. */
  readonly person: string;
  /** What the server is told that it can ask for: at least one thing. */
  readonly modes: AskableKinds;
}

/** A server together with the credential to connect with, and the person whom it may ask. */
export interface ServerTarget extends ConnectionTarget {
  readonly config: McpServerConfig;
  readonly credential?: McpCredential | undefined;
  readonly modes?: AskableKinds | undefined;
  /** The only revision for its calls, whatever is known about the server. */
  readonly revision?: McpRevision | undefined;
  /** The same for all targets with the same list of tools. A server may choose its tools by credential and capability. */
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

/** The same target, with a connection of its own for calls in that revision. */
export function inRevision(target: ServerTarget, revision: McpRevision): ServerTarget {
  const { key, fingerprint } = target;
  return { ...target, key: `${key} ${revision}`, fingerprint: `${fingerprint} ${revision}`, revision };
}

/** The same target in one slot. */
export function slotOf(target: ServerTarget, slot: number): ServerTarget {
  const { key, fingerprint } = target;
  return { ...target, key: `${key} ${slot}`, fingerprint: `${fingerprint} ${slot}` };
}

function digestOf(parts: readonly unknown[]): string {
  return sha256(JSON.stringify(parts));
}
