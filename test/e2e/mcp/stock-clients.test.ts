import { randomUUID } from 'node:crypto';
import type { Task } from '@a2a-js/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { say, stateOf, textOf, untilAsked } from '../../harness/a2a/messages.ts';
import { SIZE } from '../../harness/load/size.ts';
import { CLIENTS } from '../../harness/mcp-clients/clients.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { A2A_BINDINGS, followTask, openA2aClient, sent, WAITING_CASES } from './a2a-clients.ts';
import { type Answer, AT_ONCE, answerOf, createCalls, GREEN, type Results, TENANT, workOn } from './calls.ts';
import { startRemoteChat, statusesOf } from './remote-chats.ts';
import { type CaseRow, reportCases } from './report.ts';
import { cuttableFetch, type McpPods, openMcpPods } from './site.ts';
import { actOnPages, TOLD_CASES } from './told-cases.ts';
import { URL_CASES, type UrlCase } from './url-cases.ts';

const CALLS = SIZE.full ? 200 : 4;
/** Calls of a server behind Parley, all of which are answered alike. */
const CALLS_BEHIND = SIZE.full ? CALLS : 2;
const URL_ROUNDS = Math.ceil(CALLS / URL_CASES.length);
const REMOTE_AT_ONCE = 25;
/** Of each client, at each kill. */
const CALLS_AT_KILL = SIZE.full ? AT_ONCE : 4;
const KILLS = SIZE.full ? CALLS / AT_ONCE : 1;

let pods: McpPods;
const rows: CaseRow[] = [];
beforeAll(async () => {
  pods = await openMcpPods();
});
afterAll(async () => {
  await pods?.stop();
  reportCases('stock clients', 'test/e2e/mcp/stock-clients.test.ts', rows);
});

const CASES = Object.entries(CLIENTS);

/** The cases of a client. Clients of the same revision share them on a given day: to the pods they are the same. */
function urlCasesOf(name: string): readonly UrlCase[] {
  if (SIZE.full || name.includes('2026')) return URL_CASES;
  return URL_CASES.filter((_, at) => at % 2 === Number(name === 'v1'));
}

describe.each(CASES)('the official client %s, through two pods', (name, open) => {
  const isModern = name.includes('2026');
  const { callAll, callByUrl, expectRight } = createCalls(name, open, rows);

  // Revision 2026-07-28 has no stream while a person thinks.
  if (!isModern)
    it('continues when the socket of the call breaks while the person thinks', async () => {
      const network = cuttableFetch();
      const answer: Answer = async (_asked, _signal, callName) => {
        network.cut();
        return answerOf(callName);
      };
      const results = await callAll(pods, CALLS, answer, { fetch: network.fetch });
      expectRight(pods, 'form: the socket of the call is destroyed', results);
    });

  it('calls a tool of a server behind Parley, which asks by form and by url', async () => {
    const urls = new Set<string>();
    const answer: Answer = async ({ mode, url = '' }) => {
      if (mode !== 'url') return GREEN;
      urls.add(url);
      return { action: 'accept' };
    };
    const results = await callAll(pods, CALLS_BEHIND, answer, { tool: 'ticket' });
    const expected = { text: /^A green ticket/, isError: false, effects: 1 };
    expectRight(pods, 'form and url at once, of a server behind Parley', results, () => expected);
    expect(urls.size).toBe(CALLS_BEHIND);
  });

  it('ends questions by url as their person does, with the right result, and each tool is called once at most [MRTR-17]', async () => {
    const ended = new Map<UrlCase, Results>(urlCasesOf(name).map((one) => [one, new Map()]));
    const calls = Array.from({ length: URL_ROUNDS }, () => urlCasesOf(name)).flat();
    await workOn(calls, async (one) => {
      const [callName, result] = await callByUrl(pods, one);
      ended.get(one)?.set(callName, result);
      expect(pods.refused.get(callName) ?? 0, one.name).toBe(one.calls - one.effects);
    });
    for (const [{ name: caseName, result, effects }, results] of ended)
      expectRight(pods, `url: ${caseName}`, results, () => ({ ...result, effects }));
  });
});

/** Daily one client of each revision: to the pods, those of the same revision are the same. */
const TOLD_CLIENTS = CASES.filter(([name]) => SIZE.full || name === 'v1' || name.includes('2026'));

describe.each(TOLD_CLIENTS)('the official client %s without elicitation, through two pods', (name, open) => {
  it.each(TOLD_CASES)(
    'is told the pages of a call that is $name there; the same call, from two other sessions at once, gets its result',
    async (one) => {
      const userId = `person-${randomUUID()}`;
      const message = `one 0-${randomUUID()}`;
      const token = await pods.token(userId, TENANT);
      const options = { urls: [pods.url], token, shows: false, answer: async () => GREEN } as const;
      const call = async () => {
        const client = await open(options);
        return client.call(message, { tool: one.tool }).finally(() => client.close());
      };
      const told = await call();
      expect(told).toEqual({ text: expect.stringContaining('waits for the user'), isError: true });
      expect(await actOnPages(told, one, pods.url, userId)).toBe(one.pages);
      const expected = { text: expect.stringMatching(one.text), isError: one.isError };
      expect(await Promise.all([call(), call()]), name).toEqual([expected, expected]);
      expect(pods.booked.get(message.slice('one '.length)) ?? 0).toBe(one.effects);
      expect(await statusesOf(pods.url, TENANT, userId)).toHaveLength(one.pages);
    },
  );
});

/** Calls of an MCP client that wait: accepted, declined, cancelled, and two questions at once. */
async function waitingCalls([name, open]: (typeof CASES)[number]) {
  const { callAll, expectRight } = createCalls(name, open, rows);
  const asked = new Set<string>();
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const calling = callAll(pods, CALLS_AT_KILL, async (_asked, _signal, callName) => {
    asked.add(callName);
    await gate;
    return answerOf(callName);
  });
  await waitUntil(() => asked.size === CALLS_AT_KILL, { what: `the calls of ${name}`, timeoutMs: 90_000 });
  return {
    async finish() {
      release();
      expectRight(pods, 'form: a pod is killed while the person thinks', await calling);
    },
  };
}

/** Tasks of an A2A client that wait, one for each way in which such a task may end, with a reader of each. */
async function waitingTasks(binding: (typeof A2A_BINDINGS)[number]) {
  const client = await openA2aClient(pods.url, binding, await pods.token(`person-${randomUUID()}`));
  const some = WAITING_CASES.map((ends) => ({ name: randomUUID(), ends }));
  const asked = await Promise.all(
    some.map(async ({ name, ends }) =>
      untilAsked(client, await sent(client, say(`${ends.word} ${name}`)), ends.questions),
    ),
  );
  expect(asked.map(stateOf)).toEqual(some.map(() => 'INPUT_REQUIRED'));
  const readers = asked.map(({ id }) => followTask(client, id));
  await Promise.all(readers.map(({ reading }) => reading));
  return {
    /** Returns how many readers have seen the whole stream. */
    async finish(): Promise<number> {
      let wholeLists = 0;
      const done = await Promise.all(some.map(({ ends }, at) => ends.finish(client, asked[at] as Task)));
      for (const [at, { name, ends }] of some.entries()) {
        const task = done[at] as Task;
        const expected = [ends.state, expect.stringMatching(ends.text)];
        expect([stateOf(task), textOf(task)], `${binding}: ${ends.word} (${at})`).toEqual(expected);
        expect(pods.booked.get(name) ?? 0, ends.word).toBe(ends.booked);
        expect(await client.getTask({ id: task.id, tenant: '' })).toEqual(task);
      }
      for (const [at, { seen }] of readers.entries()) {
        const { between = [], state = '' } = some[at]?.ends ?? {};
        const { states, isWhole } = await seen;
        const whole = ['INPUT_REQUIRED', ...between, state];
        // A task may be cancelled before it works again.
        const mustSeeAll = isWhole && state !== 'CANCELED';
        if (mustSeeAll) wholeLists += 1;
        expect(states).toEqual(whole.filter((one) => mustSeeAll || states.includes(one)));
        expect([states[0], states.at(-1)]).toEqual(['INPUT_REQUIRED', state]);
      }
      return wholeLists;
    },
  };
}

it('calls and tasks of every official client go on when a pod is killed while their people think: each is answered and done once, and readers see the states in order', async () => {
  let wholeLists = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const [calls, tasks] = await Promise.all([
      Promise.all(CASES.map(waitingCalls)),
      Promise.all(A2A_BINDINGS.map(waitingTasks)),
    ]);
    const replace = await pods.kill();
    try {
      await Promise.all(calls.map(({ finish }) => finish()));
      for (const { finish } of tasks) wholeLists += await finish();
    } finally {
      await replace();
    }
  }
  // The streams of half of the readers end with the pod.
  if (SIZE.full) expect(wholeLists).toBeGreaterThan(KILLS);
});

describe('a remote agent that pushes, the stock server of A2A', () => {
  it('has any pod continue a turn that waits on no pod', async () => {
    // The stock server reports its pushes there.
    vi.spyOn(console, 'info').mockReturnValue();
    const token = await pods.token(`person-${randomUUID()}`);
    const client = await openA2aClient(pods.url, 'JSONRPC', token);
    const begun = pods.stock.begun.length;
    const asked = await sent(client, say('stock'));
    expect(stateOf(asked)).toBe('AUTH_REQUIRED');
    const taskId = pods.stock.begun[begun] ?? '';
    const isRegistered = async () => (await pods.stock.pushTargets(taskId)).length > 0;
    await waitUntil(isRegistered, { what: 'the registration', timeoutMs: 60_000 });
    pods.stock.release(taskId);
    const ended = await waitUntil(
      async () => {
        const task = await client.getTask({ id: asked.id, tenant: '' });
        return stateOf(task) === 'COMPLETED' && task;
      },
      { what: 'the end of the task' },
    );
    expect(textOf(ended)).toBe('Heard Authorized.');
    expect(pods.stock.begun).toHaveLength(begun + 1);
    vi.restoreAllMocks();
  });
});

describe('two Parleys whose agents delegate to each other through A2A', () => {
  /** The questions about one call that each Parley asks: its own person, or in the name of the other. */
  const DEEP = { word: 'deep', own: 2, peer: 2 };
  const FAR = { word: 'far', own: 1, peer: 1 };
  const KINDS = SIZE.full
    ? Array.from({ length: CALLS }, (_, at) => (at % 4 === 0 ? DEEP : FAR))
    : [DEEP, FAR];

  it('ask in the chat of the first what the last of up to three agents asks; pods die in the meantime; each answer and effect counts once', async () => {
    const peer = await pods.openPeer();
    const kinds = [...KINDS];
    while (kinds.length > 0) {
      const some = kinds.splice(0, REMOTE_AT_ONCE);
      const userId = `person-${randomUUID()}`;
      const token = await pods.token(userId, 'acme');
      const chats = some.map((kind) => startRemoteChat(pods.url, token, kind.word));
      await waitUntil(() => chats.every((chat) => chat.questions().length === 1), {
        what: 'the questions',
        timeoutMs: 120_000,
      });
      const replaceAll = await Promise.all([pods.kill(), peer.kill()]);
      await Promise.all(chats.map((chat) => chat.answer()));
      await Promise.all(chats.map(({ ended }) => ended));
      for (const [at, chat] of chats.entries()) {
        expect(chat.text()).toMatch(/^Heard .*green/s);
        expect(chat.statuses).toEqual(['pending', 'accepted']);
        expect(pods.booked.get(chat.name)).toBe(1);
        const asked = await Promise.all(
          [pods, peer].map(({ url }) => statusesOf(url, 'acme', userId, chat.name)),
        );
        const accepted = (count = 0) => Array.from({ length: count }, () => 'accepted');
        expect(asked).toEqual([accepted(some[at]?.own), accepted(some[at]?.peer)]);
      }
      if (kinds.length > 0) await Promise.all(replaceAll.map((replace) => replace()));
    }
  });
});
