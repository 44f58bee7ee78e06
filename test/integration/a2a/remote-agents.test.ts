import { generateKeyPairSync } from 'node:crypto';
import { generateAgentCardSignature } from '@a2a-js/sdk';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ScriptedModel } from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import {
  type RemoteAgentOptions,
  type RemoteBinding,
  startRemoteAgent,
} from '../../harness/a2a/remote-agent.ts';
import {
  answer,
  openRemotePod,
  outcomeOf,
  questions,
  type RemotePodOptions,
  startHandingModel,
} from '../../harness/a2a/remote-site.ts';
import { PAGE } from '../../harness/a2a/scripted-executor.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { listOpen, readEvents } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const WAYS: readonly { readonly binding: RemoteBinding; readonly streaming: boolean }[] = [
  { binding: 'JSONRPC', streaming: true },
  { binding: 'HTTP+JSON', streaming: true },
  { binding: 'JSONRPC', streaming: false },
  { binding: 'JSONRPC 0.3', streaming: true },
];

let model: ScriptedModel;
beforeAll(async () => {
  // The SDK reports there what its peers do wrong.
  vi.spyOn(console, 'debug').mockReturnValue();
  vi.spyOn(console, 'error').mockReturnValue();
  model = await startHandingModel();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await model.stop();
});

async function open(
  remote: RemoteAgentOptions = {},
  more: Partial<RemotePodOptions> & { readonly support?: { form: boolean; url: boolean } } = {},
) {
  const agent = await startRemoteAgent(remote);
  const backend = createMemoryBackend(ROOMY);
  const pod = openRemotePod({ model, backend, cardUrl: agent.url, ...more });
  onTestFinished(async () => {
    await pod.close();
    await agent.stop();
    await backend.close();
  });
  return { agent, pod };
}

for (const way of WAYS)
  describe(`a remote agent over ${way.binding}, ${way.streaming ? 'streaming' : 'polling'}`, () => {
    it('does a task, and its artifacts are the outcome', async () => {
      const { agent, pod } = await open(way);
      const begun = await pod.handOver('Zermatt');
      expect(await outcomeOf(pod, begun)).toBe('Hello: Zermatt');
      expect(agent.begun).toHaveLength(1);
    });

    it('asks in words, and the answer continues the task [A2A-04 A2A-06]', async () => {
      const { agent, pod } = await open(way);
      const begun = await pod.handOver('ask');
      const [asked] = await questions(pod, begun);
      expect(asked?.definition).toMatchObject({
        mode: 'form',
        message: 'Which colour?',
        title: 'Travel Desk asks',
        context: { trigger: 'a2a_input_required', toolId: 'desk', toolName: 'Travel Desk', agent: 'Helper' },
      });
      await answer(pod, begun, asked?.id ?? '', { action: 'accept', content: { answer: 'red' } });
      expect(await outcomeOf(pod, begun)).toBe('Heard: red');
      expect(agent.begun).toHaveLength(1);
      expect(agent.messages.map(({ taskId }) => taskId)).toEqual([agent.begun[0], agent.begun[0]]);
    });
  });

describe('the questions of a remote agent', () => {
  it('are all open at once by the extension, each with its form', async () => {
    const { pod } = await open({ speaksElicitation: true });
    const begun = await pod.handOver('form');
    const asked = await questions(pod, begun, 2);
    const byMessage = new Map(asked.map((row) => [row.definition.message, row.id]));
    await answer(pod, begun, byMessage.get('Which seat?') ?? '', {
      action: 'accept',
      content: { seat: 'aisle' },
    });
    await answer(pod, begun, byMessage.get('Which meal?') ?? '', { action: 'decline' });
    expect(await outcomeOf(pod, begun)).toBe('Heard: {"el_seat":{"seat":"aisle"},"el_meal":"decline"}');
  });

  it('that are declined are told to an agent without the extension in words', async () => {
    const { pod } = await open();
    const begun = await pod.handOver('ask');
    const [asked] = await questions(pod, begun);
    await answer(pod, begun, asked?.id ?? '', { action: 'decline' });
    expect(await outcomeOf(pod, begun)).toBe('Heard: The user declined to answer.');
  });

  it('are put to nobody where nobody can be asked', async () => {
    const { pod } = await open();
    const begun = await pod.handOver('ask', { support: { form: false, url: false } });
    expect(await outcomeOf(pod, begun)).toBe('Heard: The user cannot be asked here.');
  });
});

describe('an open question of a remote agent', () => {
  it('stays open while the credential of the person is renewed, and its answer is sent', async () => {
    let valid = 'Bearer one';
    const { agent, pod } = await open(
      { streaming: false, authorization: (value) => value === valid },
      {
        entry: ', credentialScope: user, connector: desk',
        file: 'connectors:\n  desk: { type: api_key, title: Desk, instructions: Ask the desk. }\n',
        credentials: {
          present: async (_ref, rejected) => ({
            type: 'presented',
            headers: {
              Authorization: rejected === undefined && valid === 'Bearer one' ? valid : 'Bearer two',
            },
            version: valid === 'Bearer one' ? 1 : 2,
          }),
          refused: async () => undefined,
          promote: async () => undefined,
          completeOpen: async () => undefined,
        },
      },
    );
    const begun = await pod.handOver('ask');
    const [asked] = await questions(pod, begun);
    valid = 'Bearer two';
    const cards = () => agent.requests.filter((line) => line.startsWith('GET /.well-known')).length;
    await waitUntil(() => cards() === 2, { what: 'the agent to be called with the new credential' });
    const { length } = agent.requests;
    await waitUntil(() => agent.requests.length > length + 1, { what: 'the task to be read' });
    const [still] = await questions(pod, begun);
    expect(still?.id).toBe(asked?.id);
    await answer(pod, begun, asked?.id ?? '', { action: 'accept', content: { answer: 'red' } });
    expect(await outcomeOf(pod, begun)).toBe('Heard: red');
    expect(agent.messages).toHaveLength(2);
  });

  it('stays open when the agent reports it with a new time', async () => {
    const { agent, pod } = await open({ streaming: false });
    const begun = await pod.handOver('ask');
    const [asked] = await questions(pod, begun);
    await agent.repeat(agent.begun[0] ?? '');
    const { length } = agent.requests;
    await waitUntil(() => agent.requests.length > length + 1, { what: 'the task to be read' });
    await answer(pod, begun, asked?.id ?? '', { action: 'accept', content: { answer: 'red' } });
    expect(await outcomeOf(pod, begun)).toBe('Heard: red');
    expect(agent.messages).toHaveLength(2);
  });

  it('that the agent takes back and then asks again is asked again, and is not cancelled', async () => {
    const { agent, pod } = await open({ speaksElicitation: true, streaming: false });
    const begun = await pod.handOver('form');
    const first = await questions(pod, begun, 2);
    await agent.work(agent.begun[0] ?? '');
    await questions(pod, begun, 0);
    await agent.repeat(agent.begun[0] ?? '');
    const second = await questions(pod, begun, 2);
    const ids = new Set(second.map(({ id }) => id));
    expect(first.some(({ id }) => ids.has(id))).toBe(false);
    for (const { id } of second) await answer(pod, begun, id, { action: 'decline' });
    const heard = (await outcomeOf(pod, begun)).replace('Heard: ', '');
    expect(JSON.parse(heard)).toEqual({ el_seat: 'decline', el_meal: 'decline' });
  });
});

describe('a remote agent that needs an authorization', () => {
  it.each(['JSONRPC', 'JSONRPC 0.3'] as const)(
    'has the person open its page, named by its host, and then continue (%s) [A2A-24 A2A-38]',
    async (binding) => {
      const { agent, pod } = await open({ binding });
      const begun = await pod.handOver('page');
      const [asked] = await questions(pod, begun);
      expect(asked?.definition).toMatchObject({
        mode: 'url',
        url: PAGE,
        description: 'The page is at bank.example.',
        title: 'Travel Desk asks',
      });
      await answer(pod, begun, asked?.id ?? '', { action: 'accept' });
      const [finish] = await questions(pod, begun);
      expect(finish?.definition.message).toBe('Please continue when you have finished at bank.example.');
      await answer(pod, begun, finish?.id ?? '', { action: 'accept', content: {} });
      expect(await outcomeOf(pod, begun)).toBe('Heard: The user has finished at bank.example.');
      expect(agent.begun).toHaveLength(1);
    },
  );

  it('continues by itself when it is authorized elsewhere, and its question is taken back [A2A-26]', async () => {
    const { agent, pod } = await open();
    const begun = await pod.handOver('page');
    await questions(pod, begun);
    agent.release(agent.begun[0] ?? '');
    expect(await outcomeOf(pod, begun)).toBe('Authorized.');
    expect(await questions(pod, begun, 0)).toEqual([]);
  });

  it('without a page shows a notice, and its task is awaited', async () => {
    const { agent, pod } = await open({ streaming: false });
    const begun = await pod.handOver('auth');
    const notice = await waitUntil(
      async () =>
        (await readEvents(pod.backend, begun.run)).find(({ type }) => type === 'tool-auth-required'),
      { what: 'a notice' },
    );
    expect(notice).toMatchObject({
      service: 'Travel Desk',
      message: 'Travel Desk waits for an authorization. It says: Ask your bank.',
    });
    agent.release(agent.begun[0] ?? '');
    expect(await outcomeOf(pod, begun)).toBe('Authorized.');
  });
});

describe('the end of a remote task', () => {
  it('is told with what the agent says about it', async () => {
    const { pod } = await open();
    expect(await outcomeOf(pod, await pod.handOver('fail'))).toBe(
      'Travel Desk could not finish the task: No paper.',
    );
    expect(await outcomeOf(pod, await pod.handOver('reject'))).toBe(
      'Travel Desk refused the task: Not my job.',
    );
    expect(await outcomeOf(pod, await pod.handOver('message'))).toBe('Just so.');
  });

  it('is brought about by a stop of the turn, with its questions', async () => {
    const { agent, pod } = await open();
    for (const words of ['slow', 'ask']) {
      const { conversation } = await pod.handOver(words);
      const { length } = agent.cancelled;
      await waitUntil(() => agent.begun.length > length, { what: 'the task' });
      if (words === 'ask') await questions(pod, { conversation });
      await pod.turns.stop(conversation);
      await waitUntil(() => agent.cancelled.length > length, { what: 'its cancellation' });
      expect(await questions(pod, { conversation }, 0)).toEqual([]);
    }
    expect(agent.cancelled).toEqual(agent.begun);
  });

  it('is brought about when its time is over', async () => {
    const { agent, pod } = await open({}, { entry: ', credentialScope: none, taskTimeoutSeconds: 1' });
    expect(await outcomeOf(pod, await pod.handOver('slow'))).toContain('Travel Desk did not finish in time.');
    expect(agent.cancelled).toEqual(agent.begun);
  });

  it('is brought about when it asks too much', async () => {
    const { agent, pod } = await open({ speaksElicitation: true }, { limits: ', questionsPerCall: 1' });
    expect(await outcomeOf(pod, await pod.handOver('form'))).toContain('asked the user too many questions');
    await waitUntil(() => agent.cancelled.length === 1, { what: 'its cancellation' });
  });

  it('is brought about when it asks anew at each reading', async () => {
    const { agent, pod } = await open({ streaming: false }, { limits: ', questionsPerCall: 3' });
    const begun = await pod.handOver('ask');
    for (let asks = 1; asks <= 3; asks += 1) {
      const [asked] = await questions(pod, begun);
      await agent.repeat(agent.begun[0] ?? '', 'new');
      await waitUntil(
        async () =>
          agent.cancelled.length > 0 || (await listOpen(pod.engine, begun.conversation))[0]?.id !== asked?.id,
        { what: 'the question to be replaced' },
      );
    }
    expect(await outcomeOf(pod, begun)).toContain('asked the user too many questions');
    expect(agent.cancelled).toEqual(agent.begun);
  });

  it('is brought about when its authorizations take too long together', async () => {
    const { agent, pod } = await open({ streaming: false }, { limits: ', questionTimeoutSeconds: 1' });
    const begun = await pod.handOver('auth');
    const isEnded = async () => (await pod.backend.runs.standing(begun.run))?.status !== 'running';
    const read = async () => {
      const { length } = agent.requests;
      await waitUntil(async () => agent.requests.length > length || (await isEnded()), { what: 'a reading' });
    };
    await waitUntil(() => agent.begun.length === 1, { what: 'the task' });
    for (let flips = 0; flips < 20 && !(await isEnded()); flips += 1) {
      await read();
      await agent.work(agent.begun[0] ?? '');
      await read();
      await agent.repeat(agent.begun[0] ?? '');
    }
    expect(await outcomeOf(pod, begun)).toContain('waited for an authorization that the user did not give');
    const notices = await readEvents(pod.backend, begun.run);
    expect(notices.filter(({ type }) => type === 'tool-auth-required')).toHaveLength(1);
  });

  it('leaves out what is over the limits', async () => {
    const { pod } = await open({}, { entry: ', credentialScope: none, resultCharacters: 1000' });
    const text = await outcomeOf(pod, await pod.handOver('big'));
    expect(text).toBe(`${'x'.repeat(1000)}\n\n(The rest was cut off.)`);
    const small = await open({}, { entry: ', credentialScope: none, messageBytes: 8192' });
    expect(await outcomeOf(small.pod, await small.pod.handOver('big'))).toContain(
      'sent more than can be read',
    );
  });
});

describe('what a remote agent streams', () => {
  it.each([true, false])(
    'is shown on the stream of the turn before its end (streaming: %s)',
    async (streaming) => {
      const { agent, pod } = await open({ streaming });
      const begun = await pod.handOver('tell');
      const partial = await waitUntil(
        async () => (await readEvents(pod.backend, begun.run)).find(({ type }) => type === 'tool-partial'),
        { what: 'a part of the answer' },
      );
      expect(partial).toMatchObject({ toolCallId: expect.any(String), text: 'Half of it. The' });
      agent.release(agent.begun[0] ?? '');
      expect(await outcomeOf(pod, begun)).toBe('Half of it. The rest');
    },
  );

  it('is not logged where it is not well formed, and the task is read all the same', async () => {
    const written = vi.spyOn(console, 'error').mockReturnValue();
    const { agent, pod } = await open({ binding: 'HTTP+JSON', malformed: 'a private text' });
    const begun = await pod.handOver('ask');
    const [asked] = await questions(pod, begun);
    await answer(pod, begun, asked?.id ?? '', { action: 'accept', content: { answer: 'red' } });
    expect(await outcomeOf(pod, begun)).toBe('Heard: red');
    expect(agent.begun).toHaveLength(1);
    expect(written.mock.calls.flat().map(String).join(' ')).not.toContain('a private text');
  });
});

describe('the skills of a remote agent', () => {
  const BOOK = {
    id: 'book',
    name: 'Book\na trip',
    description: 'Books \u202etrips.',
    examples: ['Zermatt in May', 'Two\nlines'],
  };
  const skilled = { delegate: ', skills: true' };

  /** The tools of the last request to the model, by name. */
  const offered = () => {
    const tools = model.requests.at(-1)?.body.tools ?? [];
    return new Map(tools.map(({ function: { name, description = '' } }) => [name, description]));
  };

  it.each([WAYS[0], WAYS[3]])('are tools, and a message names its skill (%j)', async (way) => {
    const { agent, pod } = await open({ ...way, skills: [BOOK, { id: 'pay a bill' }] }, skilled);
    const begun = await pod.handOver('desk__book: Zermatt');
    expect(await outcomeOf(pod, begun)).toBe('Hello: Zermatt');
    const tools = offered();
    expect([...tools.keys()]).toEqual(['desk__book']);
    expect(tools.get('desk__book')).toBe(
      'Hands a task to the agent Travel Desk, which knows nothing of this conversation, and returns its answer. ' +
        'Travels. It does the task by its skill Book a trip. Books [U+202E]trips.\nExamples:\n- Zermatt in May\n- Two lines',
    );
    const [message] = agent.messages;
    expect(message?.parts[0]?.content?.value).toBe('Use your skill Book a trip (book).\n\nZermatt');
    expect(message?.metadata).toMatchObject({ 'https://parley.dev/a2a/skill': 'book' });
    expect(agent.requests.filter((line) => line.startsWith('GET /.well-known'))).toHaveLength(1);
  });

  it('are bounded, with names and descriptions as those of tools of servers', async () => {
    const many = Array.from({ length: 200 }, (_, index) => ({
      id: `do.${index}`,
      description: 'x'.repeat(5_000),
    }));
    const { pod } = await open({ skills: many }, skilled);
    await outcomeOf(pod, await pod.handOver('desk__none: x'));
    const tools = offered();
    expect(tools.size).toBe(128);
    for (const [name, description] of tools) {
      expect(name).toMatch(/^desk__do_\d+_[0-9a-f]{8}$/);
      expect(description).toMatch(/x{4095}…$/);
    }
  });

  it('are asked for in place of one tool, which is offered while the card cannot be read or names none', async () => {
    const plain = await open({ skills: [BOOK] });
    await outcomeOf(plain.pod, await plain.pod.handOver('x'));
    expect([...offered().keys()]).toEqual(['delegate_to_desk']);
    const { agent, pod } = await open({ skills: [BOOK] }, skilled);
    agent.cut(true);
    expect(await outcomeOf(pod, await pod.handOver('x'))).toContain('Nothing was done.');
    expect([...offered().keys()]).toEqual(['delegate_to_desk']);
    agent.cut(false);
    agent.offer([]);
    expect(await outcomeOf(pod, await pod.handOver('x'))).toBe('Hello: x');
    expect([...offered().keys()]).toEqual(['delegate_to_desk']);
  });

  it('are read without a question to the person, and with their credential only', async () => {
    const { agent, pod } = await open(
      { authorization: 'Bearer mine', skills: [BOOK] },
      {
        ...skilled,
        entry: ', credentialScope: user, connector: desk',
        file: 'connectors:\n  desk: { type: api_key, title: Desk, instructions: Ask the desk. }\n',
      },
    );
    const begun = await pod.handOver('x');
    const [asked] = await questions(pod, begun);
    expect(asked?.definition.context).toMatchObject({ trigger: 'credential_required' });
    expect([...offered().keys()]).toEqual(['delegate_to_desk']);
    expect(agent.requests).toEqual([]);
    await pod.turns.stop(begun.conversation);
  });
});

describe('a remote agent that cannot be called', () => {
  it('is named as unreachable, and nothing was done', async () => {
    const { agent, pod } = await open();
    await agent.stop();
    expect(await outcomeOf(pod, await pod.handOver('x'))).toBe(
      'Travel Desk could not be reached. Nothing was done.',
    );
  });

  it('at another origin than its card is not called', async () => {
    const { agent, pod } = await open({
      card: (card) => ({
        ...card,
        supportedInterfaces: card.supportedInterfaces.map((one) => ({
          ...one,
          url: 'http://169.254.169.254/rpc',
        })),
      }),
    });
    expect(await outcomeOf(pod, await pod.handOver('x'))).toContain('names no address that may be called');
    expect(agent.requests).toEqual(['GET /.well-known/agent-card.json']);
  });
});

const TOKEN = 'Bearer the-secret-of-the-desk';

describe('the credential of a remote agent', () => {
  it('of the project is sent with every call, and removed from what the agent says', async () => {
    const { pod } = await open(
      { authorization: TOKEN },
      {
        entry: ', credentialScope: project, headersFromEnv: { Authorization: DESK_TOKEN }',
        env: { DESK_TOKEN: TOKEN },
      },
    );
    const text = await outcomeOf(pod, await pod.handOver('the-secret-of-the-desk'));
    expect(text).toBe('Hello: [redacted]');
  });

  it('that is refused ends the call, and the user is told', async () => {
    const { agent, pod } = await open({ authorization: TOKEN });
    expect(await outcomeOf(pod, await pod.handOver('x'))).toContain('refused the credential');
    expect(agent.begun).toEqual([]);
  });

  it('of the person is asked for with a page, and nothing is called before', async () => {
    let isConnected = false;
    const { agent, pod } = await open(
      { authorization: TOKEN },
      {
        entry: ', credentialScope: user, connector: desk',
        file: 'connectors:\n  desk: { type: api_key, title: Desk, instructions: Ask the desk. }\n',
        credentials: {
          present: async () =>
            isConnected
              ? { type: 'presented', headers: { Authorization: TOKEN }, version: 1 }
              : { type: 'absent' },
          refused: async () => undefined,
          promote: async () => {
            isConnected = true;
          },
          completeOpen: async () => undefined,
        },
      },
    );
    const begun = await pod.handOver('Zermatt');
    const [asked] = await questions(pod, begun);
    expect(asked?.definition).toMatchObject({
      mode: 'url',
      title: 'Connect Travel Desk',
      context: { trigger: 'credential_required', toolId: 'desk', connectorId: 'desk' },
    });
    expect(agent.requests).toEqual([]);
    await pod.engine.complete({
      caller: { kind: 'service', tenant: begun.conversation.tenant },
      id: asked?.id ?? '',
      surface: 'test',
    });
    expect(await outcomeOf(pod, begun)).toBe('Hello: Zermatt');
  });
});

describe('the card of a remote agent', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const sign = generateAgentCardSignature(privateKey, { alg: 'ES256', kid: 'one', typ: 'JOSE' });
  const entryWith = (key: typeof publicKey, kid: string) =>
    `, credentialScope: none, cardKeys: [${JSON.stringify({ ...key.export({ format: 'jwk' }), kid })}]`;

  it('must be signed with a configured key', async () => {
    const entry = entryWith(publicKey, 'one');
    const signed = await open({ card: sign }, { entry });
    expect(await outcomeOf(signed.pod, await signed.pod.handOver('x'))).toBe('Hello: x');
    for (const [card, wrong] of [
      [undefined, entry],
      [sign, entryWith(other.publicKey, 'one')],
      [sign, entryWith(publicKey, 'two')],
    ] as const) {
      const { agent, pod } = await open(card === undefined ? {} : { card }, { entry: wrong });
      expect(await outcomeOf(pod, await pod.handOver('x'))).toContain('not signed with a configured key');
      expect(agent.begun).toEqual([]);
    }
  });

  it('is checked by the signatures that name a configured key, and nothing of the others is written', async () => {
    const written = vi.spyOn(console, 'debug').mockReturnValue();
    written.mockClear();
    const strange = generateAgentCardSignature(other.privateKey, { alg: 'ES256', kid: 'x', typ: 'JOSE' });
    const { pod } = await open(
      { card: async (card) => sign(await strange(card)) },
      { entry: entryWith(publicKey, 'one') },
    );
    expect(await outcomeOf(pod, await pod.handOver('x'))).toBe('Hello: x');
    expect(written).not.toHaveBeenCalled();
  });

  it('is fetched once for many tasks', async () => {
    const { agent, pod } = await open();
    for (const words of ['one', 'two']) await outcomeOf(pod, await pod.handOver(words));
    expect(agent.requests.filter((line) => line.startsWith('GET /.well-known'))).toHaveLength(1);
  });
});

describe('a remote agent that breaks off', () => {
  it('while a person is asked continues the task, and gets the answer', async () => {
    const { agent, pod } = await open();
    const begun = await pod.handOver('ask');
    const [asked] = await questions(pod, begun);
    agent.cut(true);
    await answer(pod, begun, asked?.id ?? '', { action: 'accept', content: { answer: 'red' } });
    const { length } = agent.requests;
    await waitUntil(() => agent.requests.length > length + 2, { what: 'attempts to reach it' });
    agent.cut(false);
    expect(await outcomeOf(pod, begun)).toBe('Heard: red');
    expect(agent.messages).toHaveLength(2);
  });

  it('while it works is read again when its replies are those of a proxy', async () => {
    const { agent, pod } = await open({ streaming: false });
    const begun = await pod.handOver('ask');
    const [asked] = await questions(pod, begun);
    agent.cut('missing');
    const { length } = agent.requests;
    await waitUntil(() => agent.requests.length > length, { what: 'a reading' });
    agent.cut(false);
    await answer(pod, begun, asked?.id ?? '', { action: 'accept', content: { answer: 'red' } });
    expect(await outcomeOf(pod, begun)).toBe('Heard: red');
  });

  it('while the person answers gets the answer after replies that are those of a proxy', async () => {
    const { agent, pod } = await open({ binding: 'HTTP+JSON', streaming: false });
    const begun = await pod.handOver('ask');
    const [asked] = await questions(pod, begun);
    agent.cut('missing');
    const { length } = agent.requests;
    await answer(pod, begun, asked?.id ?? '', { action: 'accept', content: { answer: 'red' } });
    await waitUntil(() => agent.requests.slice(length).includes('POST /rest/message:send'), {
      what: 'an attempt to send the answer',
    });
    agent.cut(false);
    expect(await outcomeOf(pod, begun)).toBe('Heard: red');
    expect(agent.messages).toHaveLength(2);
  });

  it.each(['JSONRPC 0.3', 'HTTP+JSON 0.3'] as const)(
    'before its reply, and cannot list its tasks, ends the call at once (%s)',
    async (binding) => {
      const { agent, pod } = await open({ binding });
      await outcomeOf(pod, await pod.handOver('warm'));
      agent.cut(true);
      expect(await outcomeOf(pod, await pod.handOver('x'))).toContain('Whether it was begun is not known.');
      expect(agent.begun).toHaveLength(1);
    },
  );

  it('before its reply is not asked again, and the model is told', async () => {
    const { agent, pod } = await open({}, { entry: ', credentialScope: none, taskTimeoutSeconds: 2' });
    await outcomeOf(pod, await pod.handOver('warm'));
    agent.cut(true);
    expect(await outcomeOf(pod, await pod.handOver('x'))).toContain('Whether it was begun is not known.');
    expect(agent.requests.filter((line) => line === 'POST /rpc').length).toBeGreaterThan(1);
    expect(agent.begun).toHaveLength(1);
  });
});
