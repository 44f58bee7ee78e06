import type { RemoteAgentTarget } from '../a2a/remote-agent.ts';
import type { LoadedAgentsConfig } from '../config/load.ts';

/** An AG-UI agent of the configuration with its secrets. Never log one. */
export interface AgUiAgentTarget
  extends Pick<
    RemoteAgentTarget,
    | 'id'
    | 'title'
    | 'headers'
    | 'userHeader'
    | 'userTenant'
    | 'personal'
    | 'mayAsk'
    | 'taskMs'
    | 'messageBytesMax'
    | 'resultLengthMax'
  > {
  readonly url: string;
  /** True: a run that is posted again with its id is the same run. */
  readonly isRepeatable: boolean;
  readonly threadBytesMax: number;
}

/** The AG-UI agent of the configuration with this id; undefined where there is none. */
export function agUiAgentOf(
  { config, secretOf }: Pick<LoadedAgentsConfig, 'config' | 'secretOf'>,
  id: string,
): AgUiAgentTarget | undefined {
  const entry = config.agUiAgents[id];
  if (entry === undefined) return undefined;
  const connector = entry.connector === undefined ? undefined : config.connectors[entry.connector];
  const headers = Object.entries(entry.headersFromEnv).map(([name, variable]) => [name, secretOf(variable)]);
  return {
    id,
    title: entry.title,
    url: entry.url,
    headers: Object.fromEntries(headers),
    ...(entry.userHeader !== undefined && { userHeader: entry.userHeader }),
    userTenant: entry.userTenant,
    ...(connector !== undefined && {
      personal: { connectorId: connector.id, credentialType: connector.type },
    }),
    mayAsk: entry.elicitation,
    isRepeatable: entry.repeatable,
    taskMs: entry.taskTimeoutSeconds * 1_000,
    messageBytesMax: entry.messageBytes,
    threadBytesMax: entry.threadBytes,
    resultLengthMax: entry.resultCharacters,
  };
}
