import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { paced } from '../../harness/pace.ts';

export interface AgentAddresses {
  readonly model: string;
  readonly issuer: string;
  readonly tracker: string;
  readonly notes: string;
  readonly keyCheck: string;
  readonly echo: string;
}

/** What the tools of the configuration need from the environment. */
export interface AgentSecrets {
  readonly MODEL_KEY: string;
  readonly TRACKER_SECRET: string;
  readonly ECHO_AUTHORIZATION: string;
}

const ANNOUNCED = `
      - name: create_issue
        description: Creates an issue.
        inputSchema: { type: object, properties: { title: { type: string } }, required: [title] }
      - { name: list_issues, description: Lists issues., inputSchema: { type: object } }`;

/** The connector of the tracker's tokens. */
export const ACCOUNT = 'tracker-account';
export const TRACKER = 'Acme Tracker';
export const NOTES = 'Acme Notes';

/** Agents with a tool of each kind: a person's tokens, a person's key, the project's header. `hasty` waits a second. */
export function agentsFile(at: AgentAddresses): string {
  return `defaultAgent: helper
notify: { channel: slack, afterSeconds: 0 }
models:
  scripted: { provider: openai-compatible, baseUrl: "${at.model}", model: scripted, apiKeyEnv: MODEL_KEY }
agents:
  notifier:
    title: Notifier
    model: scripted
    instructions: Be heard.
    elicit: true
    tools: [{ server: echo }]
    approval: { ask: always }
    notify: { channel: slack, afterSeconds: 0, remind: { afterSeconds: 10 }, escalate: { afterSeconds: 10, to: C0TEAM } }
  quiet:
    title: Quiet
    model: scripted
    instructions: Be patient.
    elicit: true
    notify: { channel: slack, afterSeconds: 0, quietHours: { from: "${hoursFromNow(-2)}", to: "${hoursFromNow(2)}" } }
  painter:
    title: Painter
    model: scripted
    instructions: Be colourful.
    elicit: true
    tools: [{ server: echo }]
    notify: { channel: slack, afterSeconds: 0 }
  helper:
    title: Helper
    model: scripted
    instructions: Be brief.
    elicit: true
    tools: [{ server: tracker }, { server: notes }, { server: echo }]
  hasty:
    title: Hasty
    model: scripted
    instructions: Be quick.
    tools: [{ server: tracker }]
    limits: { questionTimeoutSeconds: 1 }
  brisk:
    title: Brisk
    model: scripted
    instructions: Be brisk.
    elicit: true
    tools: [{ server: tracker }, { server: echo }]
    approval: { ask: when, rule: 'has(args.text)', remember: conversation }
    limits: { questionTimeoutSeconds: ${paced(25)} }
mcpOffer: { agents: [{ agent: painter, task: always }] }
mcpServers:
  tracker:
    title: ${TRACKER}
    transport: http
    url: "${at.tracker}"
    credentialScope: user
    connector: ${ACCOUNT}
    announcedTools:${ANNOUNCED}
  notes:
    title: ${NOTES}
    transport: http
    url: "${at.notes}"
    credentialScope: user
    connector: notes-key
    announcedTools:${ANNOUNCED}
  echo:
    title: Echo
    transport: http
    url: "${at.echo}"
    credentialScope: project
    headersFromEnv: { Authorization: ECHO_AUTHORIZATION }
connectors:
  ${ACCOUNT}:
    type: oauth2
    title: ${TRACKER}
    issuer: "${at.issuer}"
    clientId: parley
    clientSecretEnv: TRACKER_SECRET
    scopes: [issues:read, issues:write]
    resource: "${at.tracker}"
  notes-key: { type: api_key, title: ${NOTES}, instructions: Look around., checkUrl: "${at.keyCheck}" }
`;
}

/** A time of day in UTC, so many hours from now. */
function hoursFromNow(hours: number): string {
  return new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
}

/** A form with fields of several kinds. */
const ORDER = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', minLength: 2 },
    count: { type: 'integer', title: 'How many', minimum: 1, maximum: 9 },
    mail: { type: 'string', title: 'E-mail', format: 'email' },
  },
  required: ['name', 'count'],
};

const COLOUR = {
  kind: 'choice',
  message: 'Which colour?',
  options: ['red', 'green', 'blue'].map((value) => ({ value, title: value })),
};

/** What the agent says before and after it has called its tool. */
export const BEFORE = 'One moment. ';
export const TAIL = Array.from({ length: 40 }, (_, index) => `word-${index}`).join(' ');

/**
 * "file X" creates an issue, "note X" one at the other service, "echo X" calls the project's tool, "pair X" calls it twice in
 * one step, "ask" asks in a form, "confide" for an answer that is kept from it, "paint" asks for a colour and calls the
 * project's tool with it.
 * The reply ends with the tools' results (without the person's answer) and a numbered tail that reveals missing or
 * repeated words.
 */
export function line({ userText, results }: Turn): ScriptedReply {
  const [asked, ...done] = results;
  const isPainting = userText === 'paint';
  if (asked?.name === 'elicit' && !isPainting) return { text: 'Thank you.' };
  if (results.length > 0 && (!isPainting || done.length > 0))
    return { text: `${results.map(({ text }) => wordsOf(text)).join(' & ')} ${TAIL}` };
  const [, verb, rest = ''] = /^(\w+) ?(.*)$/.exec(userText) ?? [];
  const call = (name: string, given: Record<string, unknown>) => ({
    text: BEFORE,
    calls: [{ name, arguments: given }],
  });
  if (isPainting)
    return asked === undefined ? call('elicit', COLOUR) : call('echo__echo', { text: asked.text });
  if (verb === 'file') return call('tracker__create_issue', { title: rest });
  if (verb === 'list') return call('tracker__list_issues', {});
  if (verb === 'note') return call('notes__create_issue', { title: rest });
  if (verb === 'echo') return call('echo__echo', { text: rest });
  if (verb === 'pair') {
    const calls = ['one', 'two'].map((which) => ({
      name: 'echo__echo',
      arguments: { text: `${rest} ${which}` },
    }));
    return { text: BEFORE, calls };
  }
  if (verb === 'ask') return call('elicit', { kind: 'text', message: 'Which colour?' });
  if (verb === 'confide') return call('elicit', { kind: 'text', message: 'Which code?', sensitive: true });
  if (verb === 'choose')
    return call('elicit', {
      kind: 'choice',
      message: 'Which size?',
      options: [
        { value: 's', title: 'Small' },
        { value: 'l', title: 'Large' },
      ],
    });
  if (verb === 'fill') return call('elicit', { kind: 'form', message: 'Your order, please.', schema: ORDER });
  return { text: `You said ${userText}.` };
}

/** The issue that was created, in words; else what the tool said, failures above all. */
function wordsOf(text: string): string {
  const title = /\\?"title\\?":\\?"([^"\\]+)/.exec(text)?.[1];
  return title === undefined || text.includes('"issues') ? text : `Created ${title}.`;
}

/** The complete text of a turn that created an issue. */
export const wholeText = (title: string) => `${BEFORE}Created ${title}. ${TAIL}`;
