/** Remote AG-UI agents as delegates: a stock server, and the AG-UI surface of another Parley. */
import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { agUiPodsInFile } from '../../harness/ag-ui/delegating.ts';
import { type AgUiServer, startAgUiServer } from '../../harness/ag-ui/remote-agent.ts';
import { type AgUiSite, openAgUiSite, paid } from '../../harness/ag-ui/site.ts';
import { sized } from '../../harness/proof-size.ts';
import {
  answer,
  answerText,
  answerUntilOver,
  type Begun,
  type DelegatingPod,
  outcomeOf,
  questions,
  whenDetached,
} from '../../harness/protocols/delegating-pod.ts';
import { finishPage, PAGE_URL } from '../../harness/protocols/pods.ts';
import { listOpen, readEvents, talk } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { createDyingBackend, DEATHS, type Death } from '../turns/dying-backend.ts';

const pods = agUiPodsInFile();
let agent: AgUiServer;
beforeAll(async () => {
  agent = await startAgUiServer();
});
afterAll(() => agent.stop());

/** The open approval of a conversation, once it is there. */
function openApproval({ engine }: Pick<DelegatingPod, 'engine'>, { conversation }: Begun) {
  const { tenant, userId, conversationId } = conversation;
  return waitUntil(
    async () => {
      const { rows } = await engine.approvals.list({ owner: { tenant, userId }, conversationId, limit: 5 });
      return rows.find(({ status }) => !isApprovalEnded(status));
    },
    { what: 'an approval' },
  );
}

function decide({ engine }: DelegatingPod, { conversation }: Begun, id: string, response: object) {
  const { tenant, userId } = conversation;
  const caller = { kind: 'user', tenant, userId } as const;
  return engine.approvals.decide({ caller, id, response: response as never, surface: 'test' });
}

const heardBy = (outcome: string): object[] => JSON.parse(/Heard: (\[.*?\])(?: |$)/.exec(outcome)?.[1] ?? '');

describe('a stock AG-UI server as a delegate', () => {
  it('gets the task as a thread of its own, and its text is the result', async () => {
    const pod = pods.open({ url: agent.url });
    expect(await outcomeOf(pod, await pod.handOver('unknown'))).toBe('On it.');
    const input = agent.inputs.at(-1);
    expect(input).toMatchObject({
      protocolVersion: '1.0',
      messages: [{ role: 'user', content: 'unknown' }],
      state: {},
      forwardedProps: { 'https://parley.dev/a2a/hops': 1 },
    });
    const begun = await pod.handOver('look drop');
    expect(await outcomeOf(pod, begun)).toContain('broke off');
    expect(agent.inputs.at(-1)?.threadId).not.toBe(input?.threadId);
    // A call whose result the agent does not show is shown as ended with its task.
    const events = await readEvents(pod.backend, begun.run);
    const ofCall = events.filter((event) => 'toolCallId' in event && String(event.toolCallId).includes('.'));
    expect(ofCall).toMatchObject([
      { type: 'tool-called', toolName: 'look' },
      { type: 'tool-returned', output: null },
    ]);
  });

  it.each([
    ['text', { action: 'accept', content: { answer: 'blue' } }, { status: 'resolved', payload: 'blue' }],
    [
      'form',
      { action: 'accept', content: { seat: 'aisle', bags: 2 } },
      { status: 'resolved', payload: { seat: 'aisle', bags: 2 } },
    ],
    ['yes', { action: 'accept', content: { answer: true } }, { status: 'resolved', payload: true }],
    ['form', { action: 'decline' }, { status: 'cancelled' }],
    ['form', { action: 'cancel' }, { status: 'cancelled' }],
  ] as const)('asks by the interrupt of %s, and %o continues it', async (word, response, entry) => {
    const pod = pods.open({ url: agent.url });
    const begun = await pod.handOver(`${word} state`, { delivery: 'hold' });
    const [asked] = await questions(pod, begun);
    expect(asked?.definition).toMatchObject({
      title: 'Travel Desk asks',
      context: { trigger: 'ag_ui_interrupt', toolName: 'Travel Desk' },
    });
    await answer(pod, begun, asked?.id ?? '', response);
    const outcome = await outcomeOf(pod, begun);
    expect(heardBy(outcome)).toEqual([entry]);
    // What a client keeps of the thread comes back with the answer.
    expect(outcome).toContain('{"trip":{"legs":["Ghent","Bruges"]}}');
    const [first, second] = agent.inputs.slice(-2);
    expect(second?.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect([second?.threadId, second?.runId === first?.runId]).toEqual([first?.threadId, false]);
  });

  it('asks for nothing that is a secret, and its interrupts are cancelled where it may not ask', async () => {
    const pod = pods.open({ url: agent.url });
    expect(heardBy(await outcomeOf(pod, await pod.handOver('secret')))).toEqual([{ status: 'cancelled' }]);
    const silent = pods.open({ url: agent.url, entry: ', credentialScope: none, elicitation: false' });
    const outcome = await outcomeOf(silent, await silent.handOver('text pay'));
    expect(heardBy(outcome)).toEqual([{ status: 'cancelled' }, { status: 'cancelled' }]);
  });

  it.each([
    [{ decision: 'approve' }, { approved: true }],
    [
      { decision: 'edit', arguments: { amount: 3, password: '•••' } },
      { approved: true, editedArgs: { amount: 3, password: 'hush-hush' } },
    ],
    [
      { decision: 'deny', reason: 'Too dear.' },
      { approved: false, reason: expect.stringContaining('Too dear.') },
    ],
  ])('has a call of its own approved on the stream of the turn: %o', async (response, payload) => {
    const pod = pods.open({ url: agent.url });
    const begun = await pod.handOver('pay form', { delivery: 'hold' });
    const approval = await openApproval(pod, begun);
    const { toolCallId, tool, masked } = approval.definition;
    expect([tool.name, tool.server, approval.definition.arguments.amount]).toEqual(['pay', 'desk', 7]);
    const given =
      'arguments' in response
        ? { ...response, arguments: { ...approval.definition.arguments, amount: 3 } }
        : response;
    await decide(pod, begun, approval.id, given);
    const [asked] = await questions(pod, begun);
    await answer(pod, begun, asked?.id ?? '', { action: 'accept', content: { seat: 'window' } });
    const outcome = await outcomeOf(pod, begun);
    expect(heardBy(outcome)[0]).toEqual({ status: 'resolved', payload });
    const events = await readEvents(pod.backend, begun.run);
    const shown = events.filter((event) => 'toolCallId' in event && event.toolCallId === toolCallId);
    expect(shown).toMatchObject([
      { type: 'tool-called', toolName: 'pay', agent: 'Travel Desk', input: { amount: 7 } },
      { type: 'tool-returned', output: 'paid' },
    ]);
    expect(masked).toEqual(['/password']);
    expect(JSON.stringify(shown)).not.toContain('hush-hush');
  });

  it('asks all that a run waits for at once, and again in a later run', async () => {
    const pod = pods.open({ url: agent.url });
    const begun = await pod.handOver('twice text form', { delivery: 'hold' });
    for (const seat of ['aisle', 'window']) {
      const asked = await questions(pod, begun, 2);
      for (const { id, definition } of asked) {
        const content = definition.message === 'Which colour?' ? { answer: seat } : { seat };
        await answer(pod, begun, id, { action: 'accept', content });
      }
    }
    expect(heardBy(await outcomeOf(pod, begun))).toEqual([
      { status: 'resolved', payload: 'window' },
      { status: 'resolved', payload: { seat: 'window' } },
    ]);
  });

  it.each([
    ['error', '', 'could not finish the task: Sold[U+202E] out. sold_out'],
    ['cancelled', '', 'cancelled the task'],
    ['malformed', '', 'cannot be read: its event TEXT_MESSAGE_CONTENT is not well formed'],
    ['patch', '', 'cannot be read: its state cannot be changed as it says'],
    ['large', ', threadBytes: 10000', 'sent more than can be read'],
    ['large', ', messageBytes: 10000', 'sent more than can be read'],
    ['drop', '', 'Whether it was begun is not known'],
    ['expired', ', repeatable: true', 'can no longer be called about the task, which may go on there'],
    ['status 404', '', 'refused the task: HTTP 404'],
    ['status 429', '', 'is busy with other tasks. Nothing was done'],
    ['status 302', '', 'refused the task: its reply is no stream of events'],
    ['status 401', '', 'refused the credential'],
    ['wait', ', taskTimeoutSeconds: 1', 'did not finish in time'],
    ['twice text', '', 'asked the user too many questions'],
  ])('that does %s fails its call with a plain reason', async (words, entry, reason) => {
    const limits = ', questionsPerCall: 1';
    const pod = pods.open({ url: agent.url, entry: `, credentialScope: none${entry}`, limits });
    const begun = await pod.handOver(words);
    if (words === 'twice text') await answerText(pod, begun, 'blue');
    expect(await outcomeOf(pod, begun)).toContain(`Travel Desk ${reason}`.replace('Travel Desk Wh', 'Wh'));
  });

  it('shows a call without arguments that are nested too deeply', async () => {
    const pod = pods.open({ url: agent.url });
    const begun = await pod.handOver('nested');
    expect(await outcomeOf(pod, begun)).toBe('On it.');
    const events = await readEvents(pod.backend, begun.run);
    expect(events).toContainEqual(expect.objectContaining({ toolName: 'look', input: {} }));
  });

  it('may finish its reply after the end of its run', async () => {
    const pod = pods.open({ url: agent.url });
    const { closed, read } = agent;
    expect(await outcomeOf(pod, await pod.handOver('late'))).toBe('On it.');
    await waitUntil(() => agent.read + agent.closed > read + closed, { what: 'the end of the reply' });
    expect([agent.read, agent.closed]).toEqual([read + 1, closed]);
  });

  it('is not begun where it cannot be reached', async () => {
    const pod = pods.open({ url: 'http://127.0.0.1:9/run' });
    expect(await outcomeOf(pod, await pod.handOver('text'))).toContain('Nothing was done');
  });

  it('reads no credential in a result, a question or a record', async () => {
    const env = { KEY: 'Bearer the-key-of-the-desk' };
    const entry = ', credentialScope: project, headersFromEnv: { Authorization: KEY }';
    const pod = pods.open({ url: agent.url, entry, env });
    const begun = await pod.handOver('key text', { delivery: 'hold' });
    await questions(pod, begun);
    const stored = await waitUntil(
      async () => {
        const { run } = await pod.backend.runs.read(begun.run);
        return run?.calls[0]?.round?.includes('"interrupts":[{') && run.calls[0].round;
      },
      { what: 'the record of the interrupt' },
    );
    await answerText(pod, begun, 'blue');
    expect(agent.authorizations.at(-1)).toBe(env.KEY);
    for (const text of [stored, await outcomeOf(pod, begun)]) {
      expect(text).toContain('[redacted]');
      expect(text).not.toContain('the-key-of-the-desk');
    }
  });

  it('is closed when its turn is stopped, and its questions are withdrawn', async () => {
    const pod = pods.open({ url: agent.url });
    const { closed, inputs } = agent;
    const { length } = inputs;
    const working = await pod.handOver('wait', { delivery: 'hold' });
    await waitUntil(() => inputs.length > length, { what: 'the run' });
    // What it has said so far is shown in the meantime, in whole words.
    await waitUntil(
      async () => {
        const events = await readEvents(pod.backend, working.run);
        return events.some((event) => event.type === 'tool-partial' && event.text === 'On');
      },
      { what: 'the text so far' },
    );
    await pod.turns.stop(working.conversation);
    await waitUntil(() => agent.closed > closed, { what: 'the end of the connection' });
    const asking = await pod.handOver('text form', { delivery: 'hold' });
    await questions(pod, asking, 2);
    await pod.turns.stop(asking.conversation);
    await waitUntil(async () => (await listOpen(pod.engine, asking.conversation)).length === 0, {
      what: 'the withdrawal',
    });
  });
});

/** A turn whose pod dies at a write while it has the agent do a task that asks once. */
async function turnThatLoses(death: Death, server: AgUiServer, entry: string) {
  const [backend, other] = pods.stores();
  const { state, ...dying } = createDyingBackend(backend, death.when, (_write, count) => count === death.at);
  const leaseTiming = { renewMs: 20, leaseMs: 60_000 };
  const given = { url: server.url, entry };
  const first = pods.open({
    ...given,
    backend,
    pod: 'first',
    mayDie: true,
    turns: { ...dying, leaseTiming },
  });
  // The lease of the first pod lasts as long as the pod lives, however slow the machine is.
  const alive = async (owner: string) => !state.dead || !owner.startsWith('first');
  const heartbeats = { ...other.heartbeats, alive };
  const second = pods.open({ ...given, backend: other, pod: 'second', turns: { heartbeats, leaseTiming } });
  const before = server.inputs.length;
  const begun = await first.handOver('text');
  const answered = await answerUntilOver(
    second,
    begun,
    `the end of a turn whose pod died at write ${death.at}`,
  );
  const text = await outcomeOf(second, begun);
  await second.close();
  // A pod that has not died would go on to take turns of the next tests.
  if (!state.dead) await first.close();
  const { died, writes } = { died: state.dead, writes: state.writes };
  return { text, runs: server.inputs.length - before, answered: answered.size, died, writes };
}

const WHOLE = { text: 'On it.\n\nHeard: [{"status":"resolved","payload":"red"}] {}', runs: 2, answered: 1 };

describe('a turn that delegates by AG-UI', () => {
  it('leaves its pod while the person thinks; another pod sends the answer, once', async () => {
    const [one, two] = pods.stores();
    const first = pods.open({ url: agent.url, backend: one, pod: 'first' });
    const before = agent.inputs.length;
    const begun = await first.handOver('text', { delivery: 'detach' });
    await questions(first, begun);
    await whenDetached(one, begun);
    await first.close();
    const second = pods.open({ url: agent.url, backend: two, pod: 'second' });
    await answerText(second, begun, 'red');
    await second.turns.resumable(begun.conversation, undefined);
    expect(await outcomeOf(second, begun)).toBe(WHOLE.text);
    expect(agent.inputs.length - before).toBe(2);
  });

  it.each([
    ['', false],
    [', repeatable: true', true],
  ])('begins each run once, at whichever write its pod dies%s', async (entry, repeats) => {
    const server = await startAgUiServer({ repeats });
    onTestFinished(server.stop);
    const options = `, credentialScope: none${entry}`;
    const { writes } = await turnThatLoses(
      { at: Number.POSITIVE_INFINITY, when: 'before its reply' },
      server,
      options,
    );
    let finished = 0;
    for (const when of DEATHS) {
      // A death before the reply to a write differs little from one before the next write is made.
      const step = sized(1, when === 'before its reply' ? 3 : 2);
      for (let at = 1; at <= writes; at += step) {
        const turn = await turnThatLoses({ at, when }, server, options);
        if (!turn.died) continue;
        // Only the agent knows whether a run was begun whose end is not recorded.
        if (!repeats && turn.text.includes('Whether it was begun is not known.')) {
          expect(turn.runs, `write ${at}`).toBeLessThanOrEqual(2);
          continue;
        }
        finished += 1;
        expect({ text: turn.text, runs: turn.runs, answered: turn.answered }, `write ${at}`).toEqual(WHOLE);
      }
    }
    expect(finished).toBeGreaterThan(1);
  });

  it('takes back an approval that the pod which continues it does not ask for', async () => {
    const [one, two] = pods.stores();
    const first = pods.open({ url: agent.url, backend: one, pod: 'first' });
    const begun = await first.handOver('pay', { delivery: 'hold' });
    const approval = await openApproval(first, begun);
    const entry = ', credentialScope: none, elicitation: false';
    const second = pods.open({ url: agent.url, backend: two, pod: 'second', entry });
    await first.close();
    expect(heardBy(await outcomeOf(second, begun))).toEqual([{ status: 'cancelled' }]);
    const { run } = await two.runs.read(begun.run);
    expect(run?.pauses).toMatchObject([{ elicitationId: approval.id, outcome: 'passed_over' }]);
  });

  it('sends the answer again until the agent can be reached', async () => {
    const server = await startAgUiServer({ repeats: true });
    onTestFinished(server.stop);
    const pod = pods.open({ url: server.url, entry: ', credentialScope: none, repeatable: true' });
    const begun = await pod.handOver('text', { delivery: 'hold' });
    await questions(pod, begun);
    server.cut(true);
    await answerText(pod, begun, 'red');
    await waitUntil(
      async () => (await pod.backend.runs.read(begun.run)).run?.calls[0]?.round?.includes('"isSending":true'),
      { what: 'the run that is sent' },
    );
    server.cut(false);
    expect(await outcomeOf(pod, begun)).toBe(WHOLE.text);
  });
});

describe('a Parley that calls another one by AG-UI', () => {
  let site: AgUiSite;
  beforeAll(async () => {
    site = await openAgUiSite();
  });
  afterAll(() => site.stop());

  /** A turn of a pod whose person has the same ids in both. */
  async function handOver(words: string, hops = 0) {
    const conversation = talk();
    const { tenant, userId } = conversation;
    const pod = pods.open({
      url: `${site.pods[0].url}/run/ag-ui/helper`,
      entry: ', credentialScope: project, headersFromEnv: { Authorization: KEY }, repeatable: true',
      env: { KEY: `Bearer ${tenant}/${userId}` },
    });
    const support = { form: true, url: true, ...(hops > 0 && { hops }) };
    return { pod, begun: await pod.handOver(words, { conversation, delivery: 'hold', support }) };
  }

  it('asks the questions of its agent, has its calls approved, and reads its answer', async () => {
    const { pod, begun } = await handOver('text. pay');
    await answerText(pod, begun, 'green');
    const approval = await openApproval(pod, begun);
    const before = paid.length;
    const edited = { decision: 'edit', arguments: { amount: 3 } };
    await decide(pod, begun, approval.id, edited);
    expect(await outcomeOf(pod, begun)).toMatch(/Heard: .*green.*paid/s);
    expect(paid.slice(before)).toEqual([{ amount: 3 }]);
  });

  it('has the person open a page of the other one, and continues when they have finished there', async () => {
    const { pod, begun } = await handOver('page');
    const [page] = await questions(pod, begun);
    expect(page?.definition).toMatchObject({ mode: 'url', url: PAGE_URL, completion: 'client' });
    await answer(pod, begun, page?.id ?? '', { action: 'accept' });
    const [finished] = await questions(pod, begun);
    const [there] = await listOpen(site.pods[0].engine, begun.conversation);
    await finishPage(site.pods[0].engine, begun.conversation, there?.id ?? '');
    await answer(pod, begun, finished?.id ?? '', { action: 'accept', content: {} });
    expect(await outcomeOf(pod, begun)).toContain('Heard: accepted');
  });

  it('passes on that the person declines', async () => {
    const { pod, begun } = await handOver('trip');
    const [asked] = await questions(pod, begun);
    await answer(pod, begun, asked?.id ?? '', { action: 'decline' });
    expect(await outcomeOf(pod, begun)).toContain('Heard: declined');
  });

  it('is refused beyond the configured number of deployments', async () => {
    const { pod, begun } = await handOver('text', 5);
    expect(await outcomeOf(pod, begun)).toContain('may delegate to each other in a circle');
  });
});
