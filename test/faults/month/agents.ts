import { textOf } from '../../../stand-ins/scripted-model/protocol.ts';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { ACCOUNT } from './settings.ts';

/** Where the agents find the others. */
export interface Addresses {
  readonly model: string;
  readonly tracker: string;
  readonly issuer: string;
  readonly echo: string;
  /** The model and the tools of the agent that takes its time. */
  readonly slowModel: string;
  readonly slowEcho: string;
}

/** One agent with a tool of each kind, one that notifies, and one that takes its time. */
export function agentsFile(at: Addresses): string {
  return `defaultAgent: helper
models:
  scripted: { provider: openai-compatible, baseUrl: "${at.model}", model: scripted }
  slow: { provider: openai-compatible, baseUrl: "${at.slowModel}", model: scripted }
agents:
  helper:
    title: Helper
    model: scripted
    instructions: Be patient.
    elicit: true
    tools: [{ server: tracker }, { server: echo }]
    limits: { questionTimeoutSeconds: 604800 }
  notifier:
    title: Notifier
    model: scripted
    instructions: Be heard.
    elicit: true
    limits: { questionTimeoutSeconds: 604800 }
    notify: { channel: slack, afterSeconds: 3600, remind: { afterSeconds: 86400, atMost: 2 } }
  slow:
    title: Slow
    model: slow
    instructions: Take your time.
    tools: [{ server: later }]
    limits: { turnTimeoutSeconds: 14400, toolTimeoutSeconds: 3600 }
mcpServers:
  later: { title: Later, transport: http, url: "${at.slowEcho}", credentialScope: none }
  tracker:
    title: Tracker
    transport: http
    url: "${at.tracker}"
    credentialScope: user
    connector: ${ACCOUNT}
    announcedTools:
      - { name: list_issues, description: Lists issues., inputSchema: { type: object } }
  echo:
    title: Echo
    transport: http
    url: "${at.echo}"
    credentialScope: none
    approval: { ask: always, remember: 7 days }
connectors:
  ${ACCOUNT}:
    type: oauth2
    title: Tracker
    issuer: "${at.issuer}"
    clientId: parley
    clientSecretEnv: TRACKER_SECRET
    scopes: [issues:read]
    resource: "${at.tracker}"
`;
}

/** What a person says to the agent that takes its time. */
export const LATER = 'later, ';

/** What the model says: it asks, lists issues or echoes when it is told to, else it repeats all that was said to it. */
export function line({ userText, results, messages }: Turn): ScriptedReply {
  const last = results.at(-1);
  if (last !== undefined) return { text: `Got: ${last.text}` };
  if (userText === 'ask')
    return { calls: [{ name: 'elicit', arguments: { kind: 'text', message: 'Which colour?' } }] };
  if (userText === 'list') return { calls: [{ name: 'tracker__list_issues', arguments: {} }] };
  if (userText.startsWith('echo ')) return { calls: [{ name: 'echo__echo', arguments: { text: userText } }] };
  if (userText.startsWith(LATER)) return { calls: [{ name: 'later__echo', arguments: { text: userText } }] };
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content));
  return { text: `Heard: ${said.join(' | ')}` };
}
