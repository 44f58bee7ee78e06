import { AsyncLocalStorage } from 'node:async_hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { beginTask } from '../../../services/api/src/agents/a2a/begin.ts';
import { newCheckpoint } from '../../../services/api/src/agents/a2a/checkpoint.ts';
import { createLink, type RemoteLinkDeps } from '../../../services/api/src/agents/a2a/link.ts';
import { taskOutcome } from '../../../services/api/src/agents/a2a/outcome.ts';
import { readQuestions } from '../../../services/api/src/agents/a2a/read-questions.ts';
import { type ClientSdk, createClientSdkLoader } from '../../../services/api/src/agents/a2a/sdk.ts';
import type { TaskRun } from '../../../services/api/src/agents/a2a/task-run.ts';
import { createScrubFor } from '../../../services/api/src/agents/mcp/scrub.ts';
import type { Exchange } from '../../../services/api/src/agents/mcp/transports/exchange.ts';
import { RemoteFault } from '../../../services/api/src/agents/remote/faults.ts';

let sdk: ClientSdk;
beforeAll(async () => {
  sdk = await createClientSdkLoader()();
});

/** A link over a client of the SDK whose requests were all dispatched. */
function openLink(client: Record<string, (...given: never[]) => unknown>, secret = 'a secret') {
  const exchanges = new AsyncLocalStorage<Exchange>();
  const dispatching = Object.entries(client).map(([name, method]) => [
    name,
    (...given: never[]) => {
      const exchange = exchanges.getStore();
      if (exchange !== undefined) exchange.dispatched = true;
      return method(...given);
    },
  ]);
  const { value } = createScrubFor([secret]);
  return createLink({
    sdk,
    client: Object.fromEntries(dispatching),
    read: { isStreaming: true, speaksElicitation: false, isRepeatable: false } as RemoteLinkDeps['read'],
    agent: {} as RemoteLinkDeps['agent'],
    exchanges,
    statusOf: () => 400,
    scrub: <T>(given: T) => value(given) as T,
  });
}

describe('the text of an error of a remote agent', () => {
  it('has no secret that was sent, nor a part of one', async () => {
    const secret = `Bearer ${'s'.repeat(40)}`;
    const text = `${'x'.repeat(480)} ${secret} ${secret}`;
    const getTask = async () => {
      throw Object.assign(new Error(text), { name: 'RequestMalformedError' });
    };
    const fault = await openLink({ getTask }, secret)
      .get('task', AbortSignal.timeout(60_000))
      .catch((error: Error) => error.message);
    expect(fault).toContain('xxx [redacted]');
    expect(fault).not.toContain('sss');
  });
});

describe('what a remote agent says to people', () => {
  const hidden = 'a\u202eb\u0085 \u200btoken';
  const get = (getTask: () => Promise<unknown>) =>
    openLink({ getTask }, 'ab token').get('task', AbortSignal.timeout(60_000));

  it('has nothing that cannot be seen in the message of its status; artifacts are data', async () => {
    const message = {
      messageId: hidden,
      parts: [{ text: hidden }, { data: { title: hidden, elicitationId: hidden } }],
    };
    const artifacts = [{ artifactId: 'a', parts: [{ text: hidden }] }];
    const status = { state: 'TASK_STATE_INPUT_REQUIRED', message };
    const task = await get(async () =>
      sdk.core.Task.fromJSON({ id: 'task', contextId: '', status, artifacts }),
    );
    expect(task.status.message).toMatchObject({
      messageId: hidden,
      parts: [{ text: '[redacted]' }, { data: { title: '[redacted]', elicitationId: hidden } }],
    });
    expect(task.artifacts[0]?.parts).toMatchObject([{ text: hidden }]);
    const [question] = readQuestions(task, false);
    expect(question).toMatchObject({ type: 'text' });
    expect(JSON.stringify(question)).not.toMatch(/[\u202e\u0085\u200b]/u);
  });

  it('has nothing that cannot be seen in its errors', async () => {
    const failed = get(async () => {
      throw Object.assign(new Error(`Not ${hidden}`), { name: 'RequestMalformedError' });
    });
    await expect(failed).rejects.toMatchObject({ message: 'Not [redacted]' });
  });
});

describe('the artifacts of a remote task', () => {
  it('are one text for the pieces that an agent streams, without a secret that was cut by them', async () => {
    const secret = 's'.repeat(40);
    const texts = ['Hel', 'lo wor', 'ld: sss', secret.slice(3), ...Array.from({ length: 300 }, () => '.')];
    const artifacts = [{ artifactId: 'a', parts: texts.map((text) => ({ text })) }];
    const getTask = async () => sdk.core.Task.fromJSON({ id: 'task', contextId: '', artifacts });
    const task = await openLink({ getTask }, secret).get('task', AbortSignal.timeout(60_000));
    const status = { state: 'TASK_STATE_COMPLETED' };
    const limits = { artifactsMax: 1, resultLengthMax: 1_000 };
    expect(taskOutcome('Desk', { ...task, status }, limits)).toEqual({
      type: 'returned',
      output: `Hello world: [redacted]${'.'.repeat(300)}`,
    });
  });
});

/** The begin of a task over a link with these methods. */
function beginOver(link: Partial<TaskRun['link']>) {
  let state = newCheckpoint('call');
  const run = {
    link: { agent: { title: 'Desk' }, ...link },
    call: { callKey: 'call' },
    over: AbortSignal.timeout(60_000),
    get state() {
      return state;
    },
    async save(change: Partial<TaskRun['state']>) {
      state = { ...state, ...change };
    },
  };
  return beginTask(run as unknown as TaskRun, 'x');
}

const OF_A_PROXY = new RemoteFault('refused', 'HTTP 404', 'HttpError');

describe('a first message whose reply is too large', () => {
  it('is not sent again, even to an agent that begins one task for it', async () => {
    let sent = 0;
    const begun = beginOver({
      isRepeatable: true,
      async send() {
        sent += 1;
        throw new RemoteFault(sent === 1 ? 'too_large' : 'refused');
      },
    });
    await expect(begun).rejects.toMatchObject({ kind: 'too_large' });
    expect(sent).toBe(1);
  });
});

describe('a first message whose fate is not known', () => {
  it('is sent again after a reply of a proxy, to an agent that begins one task for it', async () => {
    const faults = [new RemoteFault('unknown'), OF_A_PROXY];
    const begun = beginOver({
      isRepeatable: true,
      async send() {
        const fault = faults.shift();
        if (fault !== undefined) throw fault;
        return { type: 'task', ids: { taskId: 'task', contextId: '' } };
      },
    });
    await expect(begun).resolves.toMatchObject({ type: 'begun' });
    expect(faults).toEqual([]);
  });

  it('is not looked for until the end of its time at an agent whose list of tasks is not there', async () => {
    let finds = 0;
    const begun = beginOver({
      isRepeatable: false,
      async send() {
        throw new RemoteFault('unknown');
      },
      async find() {
        finds += 1;
        if (finds > 5) throw new Error('The task is looked for too often.');
        throw OF_A_PROXY;
      },
    });
    await expect(begun).resolves.toMatchObject({ type: 'failed' });
  });
});

describe('the stream of a message', () => {
  it.each([
    ['has no event', []],
    ['begins with an event that is not well formed', [{ payload: { $case: 'task', value: { id: '' } } }]],
  ])('is closed when it %s', async (_, events) => {
    let ending: AbortSignal | undefined;
    const link = openLink({
      async *sendMessageStream(_message: unknown, { signal }: { signal: AbortSignal }) {
        ending = signal;
        yield* events;
      },
    });
    const sent = link.send({ messageId: 'm', part: { text: 'x' } }, AbortSignal.timeout(60_000));
    await expect(sent).rejects.toMatchObject({ name: 'RemoteFault' });
    expect(ending?.aborted).toBe(true);
  });
});
