import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import type { RunRef } from '@parley/shared/domain/runs/run';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runOfCall } from '../../../services/api/src/surfaces/mcp/call-names.ts';
import { requestApproval } from '../../harness/engines/approvals.ts';
import { hear, modern, type RpcMessage, readReply, SHOWS_ALL, send } from '../../harness/mcp-clients/raw.ts';
import { ANSWER_PAGE_URL, type McpSite, openMcpSite } from '../../harness/mcp-clients/setup.ts';
import { newPerson, type Person } from '../../harness/protocols/pods.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** What docs/mcp-server.md says that people see. */
const NAME = 'what a person sees';
const PAGE = readFileSync(new URL('../../../docs/mcp-server.md', import.meta.url), 'utf8');
const LINES = (PAGE.split(`<!-- ${NAME} -->`)[1]?.split(`<!-- /${NAME} -->`)[0] ?? '')
  .trim()
  .split('\n')
  .map((line) => line.slice(2, -2).split(' | '));
const [[, ...ASKED] = [], , ...ROWS] = LINES;
const CELLS = ROWS.flatMap(([declared = '', ...cells]) =>
  ASKED.map((asked, at) => [declared, asked, cells[at] ?? ''] as const),
);

const TASKS = { 'io.modelcontextprotocol/tasks': {} };
const APPS = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
const CLIENTS: Readonly<Record<string, object>> = {
  elicitation: SHOWS_ALL,
  apps: { extensions: APPS },
  'elicitation and apps': { ...SHOWS_ALL, extensions: APPS },
  nothing: {},
  tasks: { extensions: TASKS },
  'tasks and elicitation': { ...SHOWS_ALL, extensions: TASKS },
};
/** What the agent is told to do. A call that takes steps goes on until its steps end. */
const MESSAGES: Readonly<Record<string, string>> = {
  'a form': 'text',
  'a page': 'page',
  'an approval': 'steps',
  'the call lasts': 'steps',
};

/** What has reached the client so far: by the request of the call, by that of its card, by that of its task. */
interface Seen {
  readonly notices: readonly RpcMessage[];
  readonly result: RpcMessage['result'];
  readonly card: Readonly<Record<string, unknown>>;
  readonly task: Readonly<Record<string, unknown>>;
}
/** The only request, by whichever id. */
const requestOf = ({ result, task }: Seen) =>
  Object.values({ ...result?.inputRequests, ...(task.inputRequests as object) })[0];
const asks = (mode: string) => (seen: Seen) =>
  expect(requestOf(seen)).toMatchObject({ method: 'elicitation/create', params: { mode } });
const withPage = expect.stringContaining(ANSWER_PAGE_URL);

/** What each text of a cell means. */
const MEANS: Readonly<Record<string, (seen: Seen) => void>> = {
  "the client's form": asks('form'),
  'the client opens the page': asks('url'),
  'a form in the card': ({ card }) => expect(card).toMatchObject({ questions: [{ mode: 'form' }] }),
  'a link in the card': ({ card }) => {
    const { questions, elsewhere } = card as Record<string, readonly object[]>;
    expect([...(questions ?? []), ...(elsewhere ?? [])]).toMatchObject([{ url: withPage }]);
  },
  "the page's address": ({ result }) =>
    expect(result).toMatchObject({ isError: true, content: [{ text: withPage }] }),
  '`statusMessage` with the page': ({ task }) => expect(task).toMatchObject({ statusMessage: withPage }),
  '`statusMessage`': ({ task }) => expect(task).toMatchObject({ statusMessage: 'Copying' }),
  progress: ({ notices }) => expect(JSON.stringify(notices)).toContain('"message":"Copying"'),
  'progress in the card': ({ card }) => expect(card).toMatchObject({ progress: { message: 'Copying' } }),
  // That nothing is told later either is a rule of `createWaits`, which has tests of its own.
  nothing: ({ notices, result }) => expect(JSON.stringify([notices, result])).not.toContain(ANSWER_PAGE_URL),
};

let site: McpSite;
beforeAll(async () => {
  site = await openMcpSite({ card: { html: '<!doctype html>', approveIn: new Set() } });
});
afterAll(() => site?.stop());

/** The run of the only call of a person. */
function runOf(person: Person): Promise<RunRef> {
  const { mcp } = site.pods[1].backend.ownerRecords;
  return waitUntil(
    async () => {
      const [found] = await mcp.list(person, 'mcp-call/');
      const key = found && (await mcp.read(person, found.name));
      return key && runOfCall(person, key);
    },
    { what: 'the run of the call' },
  );
}

it('has a line for each client, and a column for all that is asked', () => {
  expect([ROWS.map(([declared]) => declared), ASKED]).toEqual([Object.keys(CLIENTS), Object.keys(MESSAGES)]);
});

it.each(CELLS)('a client that declares %s, asked for %s, gets: %s', async (declared, asked, cell) => {
  const capabilities = CLIENTS[declared];
  const means = MEANS[cell];
  if (capabilities === undefined || means === undefined) throw new Error('The docs say what no test knows.');
  const person = newPerson();
  const message = `${MESSAGES[asked]}: ${declared} ${randomUUID()}`;
  const steps = new PassThrough({ objectMode: true });
  site.steps.set(message, steps);
  const call = { name: 'helper', arguments: { message } };
  const request = (method: string, params: object) => {
    const { body, headers } = modern(method, { ...params }, capabilities);
    return send(site.pods[0].url, body, { token: person.token, headers });
  };
  const resultOf = async (method: string, params: object) =>
    (await readReply(await request(method, params))).messages.at(-1)?.result ?? {};
  const messages: RpcMessage[] = [];
  // There is no reply before there is something to say.
  const calling = request('tools/call', { ...call, _meta: { progressToken: 1 } }).then(async (reply) => {
    const isStream = reply.headers.get('content-type')?.startsWith('text/event-stream');
    if (isStream) await hear(reply, (one) => messages.push(one)).ended;
    else messages.push(...(await readReply(reply)).messages);
  });
  const result = () => messages.find((one) => one.result !== undefined)?.result;

  if (asked === 'an approval') {
    const run = await runOf(person);
    await requestApproval(site.pods[1].engine, run, { conversationId: run.conversationId });
  } else steps.write({ progress: 1, total: 2, message: 'Copying' });
  if (cell === 'nothing') steps.end();

  await waitUntil(
    async () => {
      const { taskId } = result() ?? {};
      const card = declared.includes('apps')
        ? await resultOf('tools/call', {
            name: 'parley_waiting',
            arguments: { tool: call.name, arguments: call.arguments },
          })
        : {};
      const task = typeof taskId === 'string' ? await resultOf('tasks/get', { taskId }) : {};
      means({
        notices: messages,
        result: result(),
        card: (card.structuredContent ?? {}) as Seen['card'],
        task,
      });
      return cell !== 'nothing' || result() !== undefined;
    },
    { what: cell, timeoutMs: 20_000 },
  );
  steps.end();
  if (MESSAGES[asked] === 'steps') await calling;
});
