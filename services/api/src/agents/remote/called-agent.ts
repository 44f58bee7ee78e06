import type { LoadedAgentsConfig } from '../config/load.ts';

/** A configured agent that Parley calls, with its secrets. It must never be logged. */
export interface CalledAgent {
  readonly id: string;
  readonly title: string;
  /** The headers of every call. */
  readonly headers: Readonly<Record<string, string>>;
  /** The name of the header that identifies the person. */
  readonly userHeader?: string;
  /** With `userHeader`: the only tenant whose people the header may name. */
  readonly userTenant: string;
  /** Present if calls carry the person's own credential. */
  readonly personal?: { readonly connectorId: string; readonly credentialType: string };
  /** False if the agent's questions are put to nobody. */
  readonly mayAsk: boolean;
  readonly taskMs: number;
  readonly messageBytesMax: number;
  readonly resultLengthMax: number;
}

/** The members that all entries of agents in the configuration share. */
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

/** The parts of an agent's entry that are the same for every protocol. */
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

/**
 * The headers that identify the person of a task. Ids may contain any character. `%` is encoded too, so that different ids stay
 * different.
 */
export function personHeaders(
  { userHeader }: Pick<CalledAgent, 'userHeader'>,
  userId: string,
): Readonly<Record<string, string>> {
  if (userHeader === undefined) return {};
  return {
    [userHeader]: /^[\u0021-\u0024\u0026-\u007e]+$/.test(userId) ? userId : encodeURIComponent(userId),
  };
}
