import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { AgentCard, generateAgentCardSignature } from '@a2a-js/sdk';
import canonicalize from 'canonicalize';
import { FlattenedSign } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import {
  type RemoteAgentOptions,
  type RemoteBinding,
  startRemoteAgent,
} from '../../harness/a2a/remote-agent.ts';
import {
  PERSONAL,
  presenting,
  type RemotePodOptions,
  remotePodsInFile,
} from '../../harness/a2a/remote-site.ts';
import { PAGE } from '../../harness/a2a/scripted-executor.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import {
  answer,
  answerText,
  closeAfterTest,
  outcomeOf,
  questionId,
  questions,
} from '../../harness/protocols/delegating-pod.ts';
import { finishPage } from '../../harness/protocols/pods.ts';
import { listOpen, readEvents } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const WAYS: readonly { readonly binding: RemoteBinding; readonly streaming: boolean }[] = [
  { binding: 'JSONRPC', streaming: true },
  { binding: 'HTTP+JSON', streaming: true },
  { binding: 'JSONRPC', streaming: false },
  { binding: 'JSONRPC 0.3', streaming: true },
];
const CARD = 'GET /.well-known/agent-card.json';

const remotePods = remotePodsInFile();

async function open(remote: RemoteAgentOptions = {}, more: Partial<RemotePodOptions> = {}) {
  const agent = await startRemoteAgent(remote);
  const backend = remotePods.openBackend();
  closeAfterTest(agent.stop);
  const pod = remotePods.openPod({ backend, cardUrl: agent.url, ...more });
  const taskId = () => agent.begun[0] ?? '';
  const eventOf = (run: Parameters<typeof readEvents>[1], type: string) =>
    waitUntil(async () => (await readEvents(backend, run)).find((one) => one.type === type), { what: type });
  return {
    agent,
    pod,
    /** What the model says at the end of a turn with this task, which asks nobody. */
    said: async (task: string) => outcomeOf(pod, await pod.handOver(task)),
    eventOf,
    release: () => agent.release(taskId()),
    work: () => agent.work(taskId()),
    repeat: (message?: 'new') => agent.repeat(taskId(), message),
    cards: () => agent.requests.filter((line) => line === CARD).length,
    /** Waits for so many more requests to the agent. */
    async requests(count: number) {
      const { length } = agent.requests;
      await waitUntil(() => agent.requests.length >= length + count, { what: `${count} requests` });
    },
  };
}

for (const way of WAYS)
  describe(`a remote agent over ${way.binding}, ${way.streaming ? 'streaming' : 'polling'}`, () => {
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
      await answerText(pod, begun, 'red');
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
    const id = (message: string) => asked.find(({ definition }) => definition.message === message)?.id ?? '';
    await answer(pod, begun, id('Which seat?'), { action: 'accept', content: { seat: 'aisle' } });
    await answer(pod, begun, id('Which meal?'), { action: 'decline' });
    expect(await outcomeOf(pod, begun)).toBe('Heard: {"el_seat":{"seat":"aisle"},"el_meal":"decline"}');
  });

  it('are told in words to an agent without the extension: declined ones, and those that can be put to nobody', async () => {
    const { pod } = await open();
    const begun = await pod.handOver('ask');
    await answer(pod, begun, await questionId(pod, begun), { action: 'decline' });
    expect(await outcomeOf(pod, begun)).toBe('Heard: The user declined to answer.');
    const mute = await pod.handOver('ask', { support: { form: false, url: false } });
    expect(await outcomeOf(pod, mute)).toBe('Heard: The user cannot be asked here.');
  });
});

describe('an open question of a remote agent', () => {
  it('stays open while the credential of the person is renewed, and its answer is sent', async () => {
    let valid = 'Bearer one';
    const { agent, pod, cards, requests } = await open(
      { streaming: false, authorization: (value) => value === valid },
      {
        ...PERSONAL,
        credentials: presenting(async (_ref, rejected) => ({
          type: 'presented',
          headers: { Authorization: rejected === undefined && valid === 'Bearer one' ? valid : 'Bearer two' },
          version: valid === 'Bearer one' ? 1 : 2,
        })),
      },
    );
    const begun = await pod.handOver('ask');
    const asked = await questionId(pod, begun);
    valid = 'Bearer two';
    await waitUntil(() => cards() === 2, { what: 'the agent to be called with the new credential' });
    await requests(2);
    expect(await answerText(pod, begun, 'red')).toBe(asked);
    expect(await outcomeOf(pod, begun)).toBe('Heard: red');
    expect(agent.messages).toHaveLength(2);
  });

  it('stays open when the agent reports it with a new time', async () => {
    const { agent, pod, repeat, requests } = await open({ streaming: false });
    const begun = await pod.handOver('ask');
    const asked = await questionId(pod, begun);
    await repeat();
    await requests(2);
    expect(await answerText(pod, begun, 'red')).toBe(asked);
    expect(await outcomeOf(pod, begun)).toBe('Heard: red');
    expect(agent.messages).toHaveLength(2);
  });

  it('that the agent takes back and then asks again is asked again, and is not cancelled', async () => {
    const { pod, work, repeat } = await open({ speaksElicitation: true, streaming: false });
    const begun = await pod.handOver('form');
    const first = await questions(pod, begun, 2);
    await work();
    await questions(pod, begun, 0);
    await repeat();
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
    const { pod, release } = await open();
    const begun = await pod.handOver('page');
    await questions(pod, begun);
    release();
    expect(await outcomeOf(pod, begun)).toBe('Authorized.');
    expect(await questions(pod, begun, 0)).toEqual([]);
  });

  it('without a page shows a notice, and its task is awaited', async () => {
    const { pod, release, eventOf } = await open({ streaming: false });
    const begun = await pod.handOver('auth');
    expect(await eventOf(begun.run, 'tool-auth-required')).toMatchObject({
      service: 'Travel Desk',
      message: 'Travel Desk waits for an authorization. It says: Ask your bank.',
    });
    release();
    expect(await outcomeOf(pod, begun)).toBe('Authorized.');
  });
});

describe('the end of a remote task', () => {
  it('is told with what the agent says about it', async () => {
    const { said } = await open();
    expect(await said('fail')).toBe('Travel Desk could not finish the task: No paper.');
    expect(await said('reject')).toBe('Travel Desk refused the task: Not my job.');
    expect(await said('message')).toBe('Just so.');
  });

  it('is brought about by a stop of the turn, with its questions', async () => {
    const { agent, pod } = await open();
    for (const words of ['slow', 'ask']) {
      const begun = await pod.handOver(words);
      const { length } = agent.cancelled;
      await waitUntil(() => agent.begun.length > length, { what: 'the task' });
      if (words === 'ask') await questions(pod, begun);
      await pod.turns.stop(begun.conversation);
      await waitUntil(() => agent.cancelled.length > length, { what: 'its cancellation' });
      expect(await questions(pod, begun, 0)).toEqual([]);
    }
    expect(agent.cancelled).toEqual(agent.begun);
  });

  it('is brought about when its time is over', async () => {
    // So long that even a busy machine has begun the task by then.
    const { agent, said } = await open({}, { entry: ', credentialScope: none, taskTimeoutSeconds: 5' });
    expect(await said('slow')).toContain('Travel Desk did not finish in time.');
    expect(agent.cancelled).toEqual(agent.begun);
  });

  it('is brought about when it asks too much', async () => {
    const { agent, said } = await open({ speaksElicitation: true }, { limits: ', questionsPerCall: 1' });
    expect(await said('form')).toContain('asked the user too many questions');
    await waitUntil(() => agent.cancelled.length === 1, { what: 'its cancellation' });
  });

  it('is brought about when it asks anew at each reading', async () => {
    const { agent, pod, repeat } = await open({ streaming: false }, { limits: ', questionsPerCall: 3' });
    const begun = await pod.handOver('ask');
    for (let asks = 1; asks <= 3; asks += 1) {
      const asked = await questionId(pod, begun);
      await repeat('new');
      const isReplaced = async () =>
        agent.cancelled.length > 0 || (await listOpen(pod.engine, begun.conversation))[0]?.id !== asked;
      await waitUntil(isReplaced, { what: 'the question to be replaced' });
    }
    expect(await outcomeOf(pod, begun)).toContain('asked the user too many questions');
    expect(agent.cancelled).toEqual(agent.begun);
  });

  it('is brought about when its authorizations take too long together', async () => {
    const site = await open({ streaming: false }, { limits: ', questionTimeoutSeconds: 1' });
    const { agent, pod } = site;
    const begun = await pod.handOver('auth');
    const isEnded = async () => (await pod.backend.runs.standing(begun.run))?.status !== 'running';
    const read = async () => {
      const { length } = agent.requests;
      await waitUntil(async () => agent.requests.length > length || (await isEnded()), { what: 'a reading' });
    };
    await waitUntil(() => agent.begun.length === 1, { what: 'the task' });
    for (let flips = 0; flips < 20 && !(await isEnded()); flips += 1) {
      await read();
      await site.work();
      await read();
      await site.repeat();
    }
    expect(await outcomeOf(pod, begun)).toContain('waited for an authorization that the user did not give');
    const notices = await readEvents(pod.backend, begun.run);
    expect(notices.filter(({ type }) => type === 'tool-auth-required')).toHaveLength(1);
  });

  it('leaves out what is over the limits', async () => {
    const { said } = await open({}, { entry: ', credentialScope: none, resultCharacters: 1000' });
    expect(await said('big')).toBe(`${'x'.repeat(1000)}\n\n(The rest was cut off.)`);
    for (const [words, messageBytes] of [
      ['big', 8_192],
      ['crumbs', 16_777_216],
    ] as const) {
      const { said } = await open({}, { entry: `, credentialScope: none, messageBytes: ${messageBytes}` });
      expect(await said(words)).toContain('sent more than can be read');
    }
  });
});

describe('what a remote agent streams', () => {
  it('has the task read about once a second, however often it says that the task has changed', async () => {
    const { agent, said } = await open({ binding: 'HTTP+JSON' });
    const startedAt = performance.now();
    expect(await said('chatter')).toBe('Hello: chatter');
    const reads = agent.requests.filter((line) => line === `GET /rest/tasks/${agent.begun[0]}`);
    // The first ones follow each other more closely.
    expect(reads.length).toBeLessThan(6 + (performance.now() - startedAt) / 1_000);
  });

  it.each([true, false])(
    'is shown on the stream of the turn before its end (streaming: %s)',
    async (streaming) => {
      const { pod, release, eventOf } = await open({ streaming });
      const begun = await pod.handOver('tell');
      const partial = { toolCallId: expect.any(String), text: 'Half of it. The' };
      expect(await eventOf(begun.run, 'tool-partial')).toMatchObject(partial);
      release();
      expect(await outcomeOf(pod, begun)).toBe('Half of it. The rest');
    },
  );

  it('is not logged where it is not well formed, and the task is read all the same', async () => {
    const written = vi.spyOn(console, 'error').mockReturnValue();
    const { agent, pod } = await open({ binding: 'HTTP+JSON', malformed: 'a private text' });
    const begun = await pod.handOver('ask');
    await answerText(pod, begun, 'red');
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
  const ONE_TOOL = ['delegate_to_desk'];

  /** The tools of the last request to the model, by name. */
  const offered = () => {
    const tools = remotePods.model().requests.at(-1)?.body.tools ?? [];
    return new Map(tools.map(({ function: { name, description = '' } }) => [name, description]));
  };

  it.each([WAYS[0], WAYS[3]])('are tools, and a message names its skill (%j)', async (way) => {
    const { agent, said, cards } = await open({ ...way, skills: [BOOK, { id: 'pay a bill' }] }, skilled);
    expect(await said('desk__book: Zermatt')).toBe('Hello: Zermatt');
    expect([...offered().keys()]).toEqual(['desk__book']);
    expect(offered().get('desk__book')).toBe(
      'Hands a task to the agent Travel Desk, which knows nothing of this conversation, and returns its answer. ' +
        'Travels. It does the task by its skill Book a trip. Books trips.\nExamples:\n- Zermatt in May\n- Two lines',
    );
    const [message] = agent.messages;
    expect(message?.parts[0]?.content?.value).toBe('Use your skill Book a trip (book).\n\nZermatt');
    expect(message?.metadata).toMatchObject({ 'https://parley.dev/a2a/skill': 'book' });
    expect(cards()).toBe(1);
  });

  it('are bounded, with names and descriptions as those of tools of servers', async () => {
    const skill = (index: number) => ({ id: `do.${index}`, description: 'x'.repeat(5_000) });
    const { said } = await open({ skills: Array.from({ length: 200 }, (_, index) => skill(index)) }, skilled);
    await said('desk__none: x');
    const tools = offered();
    expect(tools.size).toBe(128);
    for (const [name, description] of tools) {
      expect(name).toMatch(/^desk__do_\d+_[0-9a-f]{8}$/);
      expect(description).toMatch(/x{4095}…$/);
    }
  });

  it('are asked for in place of one tool, which is offered while the card cannot be read or names none', async () => {
    await (await open({ skills: [BOOK] })).said('x');
    expect([...offered().keys()]).toEqual(ONE_TOOL);
    const { agent, said } = await open({ skills: [BOOK] }, skilled);
    agent.cut(true);
    expect(await said('x')).toContain('Nothing was done.');
    expect([...offered().keys()]).toEqual(ONE_TOOL);
    agent.cut(false);
    agent.offer([]);
    expect(await said('x')).toBe('Hello: x');
    expect([...offered().keys()]).toEqual(ONE_TOOL);
  });

  it('are read without a question to the person, and with their credential only', async () => {
    const { agent, pod } = await open(
      { authorization: 'Bearer mine', skills: [BOOK] },
      { ...skilled, ...PERSONAL },
    );
    const begun = await pod.handOver('x');
    const [asked] = await questions(pod, begun);
    expect(asked?.definition.context).toMatchObject({ trigger: 'credential_required' });
    expect([...offered().keys()]).toEqual(ONE_TOOL);
    expect(agent.requests).toEqual([]);
    await pod.turns.stop(begun.conversation);
  });
});

describe('a remote agent that cannot be called', () => {
  it('is named as unreachable, and nothing was done', async () => {
    const { agent, said } = await open();
    await agent.stop();
    expect(await said('x')).toBe('Travel Desk could not be reached. Nothing was done.');
  });

  it('has a card of A2A 0.2, which is said; nothing was done', async () => {
    const served = createServer((_request, reply) => {
      const url = 'http://127.0.0.1:1/rpc';
      const modes = { defaultInputModes: ['text'], defaultOutputModes: ['text'] };
      const card = {
        name: 'Old',
        description: 'Old.',
        url,
        version: '1',
        capabilities: {},
        skills: [],
        ...modes,
      };
      reply.end(JSON.stringify({ ...card, protocolVersion: '0.2.6' }));
    });
    closeAfterTest(async () => void served.close());
    const cardUrl = `http://127.0.0.1:${await listenOnFreePort(served)}`;
    const { said } = await open({}, { cardUrl });
    expect(await said('x')).toContain('its card is of A2A 0.2.6, and Parley speaks 0.3 and 1.0');
  });

  it('at another origin than its card is not called', async () => {
    const { agent, said } = await open({
      card({ supportedInterfaces, ...card }) {
        const elsewhere = supportedInterfaces.map((one) => ({ ...one, url: 'http://169.254.169.254/rpc' }));
        return { ...card, supportedInterfaces: elsewhere };
      },
    });
    expect(await said('x')).toContain('names no address that may be called');
    expect(agent.requests).toEqual([CARD]);
  });
});

const TOKEN = 'Bearer the-secret-of-the-desk';

describe('the credential of a remote agent', () => {
  it('of the project is sent with every call, and removed from what the agent says', async () => {
    const entry = ', credentialScope: project, headersFromEnv: { Authorization: DESK_TOKEN }';
    const { said } = await open({ authorization: TOKEN }, { entry, env: { DESK_TOKEN: TOKEN } });
    expect(await said('the-secret-of-the-desk')).toBe('Hello: [redacted]');
  });

  it('that is refused ends the call, and the user is told', async () => {
    const { agent, said } = await open({ authorization: TOKEN });
    expect(await said('x')).toContain('refused the credential');
    expect(agent.begun).toEqual([]);
  });

  it('of the person is asked for with a page, and nothing is called before', async () => {
    let isConnected = false;
    const headers = { Authorization: TOKEN };
    const credentials = presenting(
      async () => (isConnected ? { type: 'presented', headers, version: 1 } : { type: 'absent' }),
      async () => {
        isConnected = true;
      },
    );
    const { agent, pod } = await open({ authorization: TOKEN }, { ...PERSONAL, credentials });
    const begun = await pod.handOver('Zermatt');
    const [asked] = await questions(pod, begun);
    expect(asked?.definition).toMatchObject({
      mode: 'url',
      title: 'Connect Travel Desk',
      context: { trigger: 'credential_required', toolId: 'desk', connectorId: 'desk' },
    });
    expect(agent.requests).toEqual([]);
    await finishPage(pod.engine, begun.conversation, asked?.id ?? '');
    expect(await outcomeOf(pod, begun)).toBe('Hello: Zermatt');
  });
});

describe('the card of a remote agent', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const sign = generateAgentCardSignature(privateKey, { alg: 'ES256', kid: 'one', typ: 'JOSE' });
  const entryWith = (key: typeof publicKey, kid: string) =>
    `, credentialScope: none, cardKeys: [${JSON.stringify({ ...key.export({ format: 'jwk' }), kid })}]`;

  /** The canonical JSON of the card as the stock server serves it, with its security schemes. */
  const signCanonical = async (card: AgentCard): Promise<AgentCard> => {
    const { signatures: _signatures, ...served } = card;
    const payload = Buffer.from(canonicalize(served) ?? '');
    const head = { alg: 'ES256', kid: 'one', typ: 'JOSE' };
    const signed = await new FlattenedSign(payload).setProtectedHeader(head).sign(privateKey);
    return { ...card, signatures: AgentCard.fromJSON({ signatures: [signed] }).signatures };
  };

  it('must be signed with a configured key [A2A-59]', async () => {
    const entry = entryWith(publicKey, 'one');
    for (const card of [sign, signCanonical])
      expect(await (await open({ card }, { entry })).said('x')).toBe('Hello: x');
    for (const [remote, wrong] of [
      [{}, entry],
      [{ card: sign }, entryWith(other.publicKey, 'one')],
      [{ card: sign }, entryWith(publicKey, 'two')],
    ] as const) {
      const { agent, said } = await open(remote, { entry: wrong });
      expect(await said('x')).toContain('not signed with a configured key');
      expect(agent.begun).toEqual([]);
    }
  });

  it('is checked by the signatures that name a configured key, and nothing of the others is written', async () => {
    const written = vi.spyOn(console, 'debug').mockReturnValue();
    written.mockClear();
    const strange = generateAgentCardSignature(other.privateKey, { alg: 'ES256', kid: 'x', typ: 'JOSE' });
    const card: RemoteAgentOptions['card'] = async (plain) => sign(await strange(plain));
    const { said } = await open({ card }, { entry: entryWith(publicKey, 'one') });
    expect(await said('x')).toBe('Hello: x');
    expect(written).not.toHaveBeenCalled();
  });

  it('is fetched once for many tasks [A2A-59]', async () => {
    const { said, cards } = await open();
    for (const words of ['one', 'two']) await said(words);
    expect(cards()).toBe(1);
  });
});

describe('a remote agent that breaks off', () => {
  it('while a person is asked continues the task, and gets the answer', async () => {
    const { agent, pod, requests } = await open();
    const begun = await pod.handOver('ask');
    await questions(pod, begun);
    agent.cut(true);
    await answerText(pod, begun, 'red');
    await requests(3);
    agent.cut(false);
    expect(await outcomeOf(pod, begun)).toBe('Heard: red');
    expect(agent.messages).toHaveLength(2);
  });

  it('while it works is read again when its replies are those of a proxy', async () => {
    const { agent, pod, requests } = await open({ streaming: false });
    const begun = await pod.handOver('ask');
    await questions(pod, begun);
    agent.cut('missing');
    await requests(1);
    agent.cut(false);
    await answerText(pod, begun, 'red');
    expect(await outcomeOf(pod, begun)).toBe('Heard: red');
  });

  it('while the person answers gets the answer after replies that are those of a proxy', async () => {
    const { agent, pod } = await open({ binding: 'HTTP+JSON', streaming: false });
    const begun = await pod.handOver('ask');
    await questions(pod, begun);
    agent.cut('missing');
    const { length } = agent.requests;
    await answerText(pod, begun, 'red');
    const isSent = () => agent.requests.slice(length).includes('POST /rest/message:send');
    await waitUntil(isSent, { what: 'an attempt to send the answer' });
    agent.cut(false);
    expect(await outcomeOf(pod, begun)).toBe('Heard: red');
    expect(agent.messages).toHaveLength(2);
  });

  it.each(['JSONRPC 0.3', 'HTTP+JSON 0.3'] as const)(
    'before its reply, and cannot list its tasks, ends the call at once (%s)',
    async (binding) => {
      const { agent, said } = await open({ binding });
      await said('warm');
      agent.cut(true);
      expect(await said('x')).toContain('Whether it was begun is not known.');
      expect(agent.begun).toHaveLength(1);
    },
  );

  it('before its reply is not asked again, and the model is told', async () => {
    const { agent, said } = await open({}, { entry: ', credentialScope: none, taskTimeoutSeconds: 5' });
    await said('warm');
    agent.cut(true);
    expect(await said('x')).toContain('Whether it was begun is not known.');
    expect(agent.requests.filter((line) => line === 'POST /rpc').length).toBeGreaterThan(1);
    expect(agent.begun).toHaveLength(1);
  });
});
