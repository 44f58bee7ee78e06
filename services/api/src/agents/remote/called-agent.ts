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

/** The person for whom an agent is called, and the headers of their credential. */
export interface CalledFor {
  readonly userId: string;
  readonly credential: Readonly<Record<string, string>>;
}

/** The headers that name the person of a task, who may have any id. `%` is encoded too, so that no two ids are one. */
export function personHeaders(
  { userHeader }: Pick<CalledAgent, 'userHeader'>,
  userId: string,
): Readonly<Record<string, string>> {
  if (userHeader === undefined) return {};
  return {
    [userHeader]: /^[\u0021-\u0024\u0026-\u007e]+$/.test(userId) ? userId : encodeURIComponent(userId),
  };
}
