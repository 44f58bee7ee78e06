import type { LoadedAgentsConfig } from '../config/load.ts';
import { type CalledAgent, calledAgentOf } from '../remote/called-agent.ts';

/** A configured A2A agent, with its secrets. It must never be logged. */
export interface RemoteAgentTarget extends CalledAgent {
  /** The address of the agent's card. */
  readonly cardUrl: string;
  /** The only origins that Parley calls for this agent. */
  readonly origins: readonly string[];
  /** Public keys, one of which must have signed the card. Empty: any card is accepted. */
  readonly cardKeys: readonly CardKey[];
  /** False if Parley must not register for push updates. */
  readonly mayPush: boolean;
  readonly artifactsMax: number;
}

/** A public key as JWK (RFC 7517). */
export type CardKey = Readonly<Record<string, unknown>> & { readonly kty: string; readonly kid?: string };

const WELL_KNOWN = '/.well-known/agent-card.json';

/** The remote agent of the configuration with this id; undefined where there is none. */
export function remoteAgentOf(
  loaded: Pick<LoadedAgentsConfig, 'config' | 'secretOf'>,
  id: string,
): RemoteAgentTarget | undefined {
  const entry = loaded.config.a2aAgents[id];
  if (entry === undefined) return undefined;
  const cardUrl = cardUrlOf(entry.cardUrl);
  return {
    ...calledAgentOf(loaded, id, entry),
    cardUrl,
    origins: [cardUrl, ...entry.origins].map((url) => new URL(url).origin),
    cardKeys: entry.cardKeys as readonly CardKey[],
    mayPush: entry.push,
    artifactsMax: entry.artifacts,
  };
}

function cardUrlOf(given: string): string {
  const url = new URL(given);
  if (!url.pathname.endsWith('.json')) url.pathname = `${url.pathname.replace(/\/+$/, '')}${WELL_KNOWN}`;
  return url.href;
}
