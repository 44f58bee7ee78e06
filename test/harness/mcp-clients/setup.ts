/** Two pods in this process with the MCP endpoint. A request goes to any of them. */

import { randomBytes } from 'node:crypto';
import type { PassThrough } from 'node:stream';
import { pagesOf } from '@parley/sdk/elicit';
import { createClientRequests } from '@parley/shared/elicitations/asking/client-requests';
import type { Tool } from '../../../services/api/src/agents/run/tool.ts';
import { NO_OFFERING } from '../../../services/api/src/agents/tools/mcp-offer.ts';
import type { CallLimitSettings } from '../../../services/api/src/http/limits/call-limits.ts';
import { type McpRouteDeps, mcpRoutes } from '../../../services/api/src/surfaces/mcp/routes.ts';
import type { TurnsDeps } from '../../../services/api/src/turns/turns.ts';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { KINDS, type KindCase } from '../cli/kinds.ts';
import { openServedPods, pageTool, type ServedPods, type ServedPodsOptions } from '../protocols/pods.ts';
import { authenticateByName } from '../protocols/served.ts';
import { elicit } from '../turns/setup.ts';

export const ANSWER_PAGE_URL = 'https://parley.example/auth/answer/';
/** How long a form stays unanswered before its page is named. */
const UNANSWERED_MS = 1_000;
const STATE_KEY = randomBytes(32);

export interface McpSite extends ServedPods {
  /** How often each task was done, by the message of its call. */
  readonly done: Map<string, number>;
  /** The progress that the tool `steps` reports until the stream ends, by the message of its call. */
  readonly steps: Map<string, PassThrough>;
}

/**
 * The agent does what the words of its task say, in one step: `text` asks by a form, `page` by a url, `work` does the task
 * once, `steps` reports progress, `kind-3` asks what the table of kinds has there. Then it repeats what it heard.
 */
function line({ userText, results }: Turn): ScriptedReply {
  if (results.length > 0) return { text: `Heard: ${results.map(({ text }) => text).join(' ')}` };
  const [words = ''] = userText.split(':');
  const calls = words.split(' ').flatMap((word) => {
    if (word === 'text') return [{ name: 'elicit', arguments: { kind: 'text', message: 'Which colour?' } }];
    if (word === 'page') return [{ name: word, arguments: {} }];
    const at = /^kind-(\d+)$/.exec(word)?.[1];
    if (at !== undefined) return [{ name: 'kind', arguments: { at: Number(at) } }];
    return word === 'work' || word === 'steps' ? [{ name: word, arguments: { task: userText } }] : [];
  });
  return calls.length === 0 ? { text: `Hello: ${userText}` } : { text: 'One moment.', calls };
}

/** Asks for one kind of the table that a terminal and the widget answer, too; returns the answer in the asker's terms. */
const kind: Tool = {
  name: 'kind',
  description: 'Asks for one kind.',
  inputSchema: { type: 'object' },
  async call(call) {
    const { ask } = KINDS[(call.input as { readonly at: number }).at] as KindCase;
    const [page] = pagesOf(ask) ?? [];
    const asked = { message: ask.message, timeoutSeconds: 600 };
    const outcome = await call.ask(
      0,
      ask.kind === 'url'
        ? { ...asked, mode: 'url', url: ask.url }
        : { ...asked, mode: 'form', requestedSchema: page?.schema },
    );
    const reading = await page?.read(outcome.content);
    const values = reading?.ok === true ? reading.values : {};
    return { type: 'returned', output: { status: outcome.status, ...values } };
  },
};

const workTool = (done: Map<string, number>): Tool => ({
  name: 'work',
  description: 'Does a task.',
  inputSchema: { type: 'object' },
  async call(call) {
    await call.beforeDispatch();
    const { task } = call.input as { readonly task: string };
    done.set(task, (done.get(task) ?? 0) + 1);
    return { type: 'returned', output: 'done' };
  },
});

const stepsTool = (steps: McpSite['steps']): Tool => ({
  name: 'steps',
  description: 'Reports progress.',
  inputSchema: { type: 'object' },
  async call({ input, toolCallId, appendEvent }) {
    const { task } = input as { readonly task: string };
    for await (const step of steps.get(task) ?? [])
      await appendEvent({ type: 'tool-progress', toolCallId, ...step });
    return { type: 'returned', output: 'done' };
  },
});

const HELPER: Awaited<ReturnType<TurnsDeps['offering']['list']>>[number] = {
  name: 'helper',
  title: 'Helper',
  description: 'Helps.',
  inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  target: { type: 'agent', agent: 'helper', task: { mode: 'always', afterMs: 0 } },
};
const OFFERING: TurnsDeps['offering'] = {
  ...NO_OFFERING,
  list: async () => [HELPER],
  find: async (_caller, _principal, name) => (name === HELPER.name ? HELPER.target : undefined),
};

/** How far the clock of the records is ahead of its time. */
export const recordsClock = { aheadMs: 0 };

/** How a pod serves MCP. */
export const mcpSurface = (settings: Partial<McpRouteDeps> = {}): ServedPodsOptions['surfaceOf'] => {
  return ({ backend, engine, turns }, limits) =>
    mcpRoutes({
      engine,
      turns,
      limits,
      records: {
        ...backend.ownerRecords.mcp,
        now: async (owner) => (await backend.ownerRecords.mcp.now(owner)) + recordsClock.aheadMs,
      },
      answerMisfits: backend.answerMisfits,
      clientRequests: createClientRequests(backend),
      subscriptionChanges: backend.subscriptionChanges,
      subscriptionsMax: 3,
      version: '0.0.0',
      stateKeys: [STATE_KEY],
      sessionMs: 600_000,
      callMs: 60_000,
      // So long that a busy machine has asked by the end of a round, too.
      roundMs: 30_000,
      progressMs: 100,
      againMs: 500,
      answerPage: { baseUrl: ANSWER_PAGE_URL, afterMs: UNANSWERED_MS },
      onFault: () => undefined,
      authenticate: authenticateByName,
      resource: { url: 'https://parley.example/run/v1/mcp', issuer: 'https://issuer.example' },
      origins: new Set(['https://page.example']),
      ...settings,
    });
};

/** Opens the site. The bearer tokens are those of `authenticateByName`. */
export async function openMcpSite(
  settings: Partial<McpRouteDeps> = {},
  budgets: Partial<CallLimitSettings> = {},
): Promise<McpSite> {
  const done = new Map<string, number>();
  const steps: McpSite['steps'] = new Map();
  const tools = [elicit, workTool(done), stepsTool(steps), kind, pageTool];
  const pods = await openServedPods({
    line,
    pod: { agents: { helper: { tools } }, offering: OFFERING },
    surfaceOf: mcpSurface(settings),
    budgets,
  });
  return { ...pods, done, steps };
}
