import { randomUUID } from 'node:crypto';
import type { Task } from '@a2a-js/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { waitUntil } from '../../harness/wait-until.ts';
import { say, stateOf, textOf } from '../../integration/a2a/messages.ts';
import {
  type AskedOfClient,
  type Called,
  CLIENTS,
  type ClientAnswer,
} from '../../integration/mcp-server/clients.ts';
import { SIZE } from '../../load/size.ts';
import {
  A2A_BINDINGS,
  followTask,
  openA2aClient,
  sent,
  WAITING_CASES,
  type WaitingCase,
} from './a2a-clients.ts';
import { startRemoteChat, statusesAt } from './remote-chats.ts';
import { cuttableFetch, type McpPods, openMcpPods } from './site.ts';

vi.setConfig({ testTimeout: SIZE.full ? 900_000 : 120_000, hookTimeout: 120_000 });

const CALLS = SIZE.full ? 200 : 8;
const AT_ONCE = 8;
const READERS = 3;
const REMOTE_AT_ONCE = 25;
const KILLS = SIZE.full ? CALLS / AT_ONCE : 1;

let pods: McpPods;
beforeAll(async () => {
  pods = await openMcpPods();
});
afterAll(() => pods?.stop());

const GREEN: ClientAnswer = { action: 'accept', content: { answer: 'green' } };
const ANSWERS: readonly ClientAnswer[] = [GREEN, { action: 'decline' }, { action: 'cancel' }, GREEN];
const HEARD = [/green/, /declined/, /dismissed|cancel/, /green.*green/s];

describe.each(Object.entries(CLIENTS))('the official client %s, through two pods', (name, open) => {
  const isModern = name.includes('2026');

  /** Makes calls of one person, some at a time; returns the results by the names of the calls. */
  async function callAll(
    count: number,
    answer: (
      callName: string,
      index: number,
      asked: AskedOfClient,
      signal: AbortSignal,
    ) => Promise<ClientAnswer> | ClientAnswer,
    options: { readonly fetch?: typeof fetch; readonly tool?: string } = {},
  ): Promise<Map<string, Called | Error>> {
    const names = Array.from({ length: count }, (_, index) => `${index}-${randomUUID()}`);
    const client = await open({
      urls: [pods.url],
      token: await pods.token(`person-${randomUUID()}`),
      async answer(asked, signal) {
        const callName = names.find((one) => asked.message.includes(one)) ?? '';
        return answer(callName, Number(callName.split('-')[0]), asked, signal);
      },
      ...(options.fetch !== undefined && { fetch: options.fetch }),
    });
    const results = new Map<string, Called | Error>();
    const rest = [...names];
    const work = async () => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
        const word = Number(next.split('-')[0]) % 4 === 3 ? 'two' : 'one';
        const call = client.call(`${word} ${next}`, options).catch((error: unknown) => error as Error);
        results.set(next, await call);
      }
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    } finally {
      await client.close();
    }
    return results;
  }

  function expectAllRight(results: ReadonlyMap<string, Called | Error>) {
    for (const [callName, result] of results) {
      expect(result, callName).not.toBeInstanceOf(Error);
      const kind = Number(callName.split('-')[0]) % 4;
      expect(result, callName).toMatchObject({ text: expect.stringMatching(HEARD[kind] ?? /never/) });
      expect(pods.booked.get(callName), callName).toBe(1);
    }
  }

  it('accepts, declines, cancels and answers two questions at once: every call has the right result, once', async () => {
    const results = await callAll(CALLS, (_name, index) => ANSWERS[index % 4] ?? GREEN);
    expect(results.size).toBe(CALLS);
    expectAllRight(results);
  });

  // Revision 2026-07-28 has no stream while a person thinks.
  it.skipIf(isModern)('continues when the socket of the call breaks while the person thinks', async () => {
    const network = cuttableFetch();
    const results = await callAll(
      CALLS,
      async (_name, index) => {
        network.cut();
        return ANSWERS[index % 4] ?? GREEN;
      },
      { fetch: network.fetch },
    );
    expectAllRight(results);
  });

  it('goes on when a pod is killed while the person thinks', async () => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const asked = new Set<string>();
      let release = (): void => undefined;
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      const calling = callAll(AT_ONCE, async (callName, index) => {
        asked.add(callName);
        await gate;
        return ANSWERS[index % 4] ?? GREEN;
      });
      await waitUntil(() => asked.size === AT_ONCE, { what: 'all calls to wait' });
      const replace = await pods.kill();
      release();
      expectAllRight(await calling);
      await replace();
    }
  });

  it('calls a tool of a server behind Parley, which asks by form and by url', async () => {
    const urls = new Set<string>();
    const results = await callAll(
      CALLS,
      (_name, _index, { mode, url = '' }) => {
        if (mode !== 'url') return GREEN;
        urls.add(url);
        return { action: 'accept' };
      },
      { tool: 'ticket' },
    );
    for (const [callName, result] of results) {
      expect(result, callName).toEqual({ text: expect.stringContaining('green'), isError: false });
      expect(pods.booked.get([...pods.booked.keys()].find((key) => key.includes(callName)) ?? '')).toBe(1);
    }
    expect(urls.size).toBe(CALLS);
  });

  it('gets the end of questions that expire', async () => {
    const results = await callAll(
      AT_ONCE,
      (_name, _index, _asked, signal) =>
        new Promise((resolve) => {
          const end = () => resolve({ action: 'cancel' });
          signal.addEventListener('abort', end);
          setTimeout(end, 2_500);
        }),
      { tool: 'hasty' },
    );
    for (const [callName, result] of results)
      expect(result, callName).toMatchObject({
        text: expect.stringContaining('before the deadline'),
        isError: false,
      });
  });
});

describe.each(A2A_BINDINGS)('the official client of A2A over %s, through two pods', (binding) => {
  it('ends tasks that waited when a pod was killed: each is answered and done once, and its readers see its states in order', async () => {
    const client = await openA2aClient(pods.url, binding, await pods.token(`person-${randomUUID()}`));
    const rest = Array.from({ length: SIZE.full ? CALLS : WAITING_CASES.length }, (_, at) => ({
      name: randomUUID(),
      ends: WAITING_CASES[at % WAITING_CASES.length] as WaitingCase,
    }));
    while (rest.length > 0) {
      const some = rest.splice(0, AT_ONCE);
      const asked = await Promise.all(
        some.map(({ name, ends }) => sent(client, say(`${ends.word} ${name}`))),
      );
      expect(asked.map(stateOf)).toEqual(some.map(() => 'INPUT_REQUIRED'));
      const readers = asked.slice(0, READERS).map(({ id }) => followTask(client, id));
      await Promise.all(readers.map(({ reading }) => reading));
      const replace = await pods.kill();
      const done = await Promise.all(some.map(({ ends }, at) => ends.finish(client, asked[at] as Task)));
      for (const [at, { name, ends }] of some.entries()) {
        const task = done[at] as Task;
        expect([stateOf(task), textOf(task)]).toEqual([ends.state, expect.stringMatching(ends.text)]);
        expect(pods.booked.get(name) ?? 0, ends.word).toBe(ends.booked);
        expect(await client.getTask({ id: task.id, tenant: '' })).toEqual(task);
      }
      for (const [at, { seen }] of readers.entries()) {
        const { between = [], state = '' } = some[at]?.ends ?? {};
        const { states, isWhole } = await seen;
        const whole = ['INPUT_REQUIRED', ...between, state];
        // A task may be cancelled before it works again.
        const mustSeeAll = isWhole && state !== 'CANCELED';
        expect(states).toEqual(whole.filter((one) => mustSeeAll || states.includes(one)));
        expect([states[0], states.at(-1)]).toEqual(['INPUT_REQUIRED', state]);
      }
      await replace();
    }
  });
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
    await waitUntil(async () => (await pods.stock.pushTargets(taskId)).length > 0, {
      what: 'the registration',
    });
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
  const CALLS_OF = [
    { word: 'deep', own: 2, peer: 2 },
    { word: 'far', own: 1, peer: 1 },
    { word: 'far', own: 1, peer: 1 },
    { word: 'far', own: 1, peer: 1 },
  ];

  it('ask in the chat of the first what the last of up to three agents asks; pods die meanwhile; each answer and effect counts once', async () => {
    const peer = await pods.openPeer();
    const kinds = Array.from({ length: SIZE.full ? CALLS : 4 }, (_, at) => CALLS_OF[at % 4] ?? CALLS_OF[0]);
    while (kinds.length > 0) {
      const some = kinds.splice(0, REMOTE_AT_ONCE);
      const userId = `person-${randomUUID()}`;
      const token = await pods.token(userId, 'acme');
      const chats = some.map((kind) => startRemoteChat(pods.url, token, kind?.word ?? ''));
      await waitUntil(() => chats.every((chat) => chat.questions().length === 1), {
        what: 'the questions',
        timeoutMs: 120_000,
      });
      const replaceAll = await Promise.all([pods.kill(), peer.kill()]);
      await Promise.all(chats.map((chat) => chat.answer()));
      await Promise.all(chats.map(({ ended }) => ended));
      for (const [at, chat] of chats.entries()) {
        expect(chat.text()).toMatch(/^Heard .*green/s);
        expect(chat.questions().map(({ status }) => status)).toEqual(['accepted']);
        expect(pods.booked.get(chat.name)).toBe(1);
        const asked = await Promise.all([pods, peer].map(({ url }) => statusesAt(url, userId, chat.name)));
        const accepted = (count = 0) => Array.from({ length: count }, () => 'accepted');
        expect(asked).toEqual([accepted(some[at]?.own), accepted(some[at]?.peer)]);
      }
      if (kinds.length > 0) await Promise.all(replaceAll.map((replace) => replace()));
    }
  });
});
