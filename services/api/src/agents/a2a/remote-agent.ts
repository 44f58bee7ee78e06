import type { LoadedAgentsConfig } from '../config/load.ts';

/** An agent of the configuration that is called, with its secrets. Never log one. */
export interface CalledAgent {
  readonly id: string;
  readonly title: string;
  /** Headers of every call. */
  readonly headers: Readonly<Record<string, string>>;
  /** Header that names the person. */
  readonly userHeader?: string;
  /** With `userHeader`: the one tenant whose people it names. */
  readonly userTenant: string;
  /** Present when calls carry the person's own credential. */
  readonly personal?: { readonly connectorId: string; readonly credentialType: string };
  /** False: its questions are put to nobody. */
  readonly mayAsk: boolean;
  readonly taskMs: number;
  readonly messageBytesMax: number;
  readonly resultLengthMax: number;
}

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

/** What the entries of agents in the configuration have in common. */
type CalledAgentEntry = Pick<
  LoadedAgentsConfig['config']['a2aAgents'][string],
  | 'title'
  | 'connector'
  | 'headersFromEnv'
  | 'userHeader'
  | 'userTenant'
  | 'elicitation'
  | 'taskTimeoutSeconds'
  | 'messageBytes'
  | 'resultCharacters'
>;

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

/** What the entry of an agent says of it, whichever protocol it speaks. */
export function calledAgentOf(
  { config, secretOf }: Pick<LoadedAgentsConfig, 'config' | 'secretOf'>,
  id: string,
  entry: CalledAgentEntry,
): CalledAgent {
  const connector = entry.connector === undefined ? undefined : config.connectors[entry.connector];
  const headers = Object.entries(entry.headersFromEnv).map(([name, variable]) => [name, secretOf(variable)]);
  return {
    id,
    title: entry.title,
    headers: Object.fromEntries(headers),
    ...(entry.userHeader !== undefined && { userHeader: entry.userHeader }),
    userTenant: entry.userTenant,
    ...(connector !== undefined && {
      personal: { connectorId: connector.id, credentialType: connector.type },
    }),
    mayAsk: entry.elicitation,
    taskMs: entry.taskTimeoutSeconds * 1_000,
    messageBytesMax: entry.messageBytes,
    resultLengthMax: entry.resultCharacters,
  };
}

function cardUrlOf(given: string): string {
  const url = new URL(given);
  if (!url.pathname.endsWith('.json')) url.pathname = `${url.pathname.replace(/\/+$/, '')}${WELL_KNOWN}`;
  return url.href;
}

/** The headers that name the person of a task, who may have any id. `%` is encoded too, so that no two ids are one. */
export function personHeaders(
  { userHeader }: Pick<RemoteAgentTarget, 'userHeader'>,
  userId: string,
): Readonly<Record<string, string>> {
  if (userHeader === undefined) return {};
  return {
    [userHeader]: /^[\u0021-\u0024\u0026-\u007e]+$/.test(userId) ? userId : encodeURIComponent(userId),
  };
}
