import type { LoadedAgentsConfig } from '../config/load.ts';
import { type CalledAgent, calledAgentOf } from '../remote/called-agent.ts';

/** An A2A agent of the configuration with its secrets. Never log one. */
export interface RemoteAgentTarget extends CalledAgent {
  /** Address of the card. */
  readonly cardUrl: string;
  /** The only origins that are called. */
  readonly origins: readonly string[];
  /** Public keys of which one must have signed the card; none: any card is taken. */
  readonly cardKeys: readonly CardKey[];
  /** False: its pushes are not asked for. */
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
