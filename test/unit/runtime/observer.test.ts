import { type Span, TraceFlags } from '@opentelemetry/api';
import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import type { Row } from '@parley/shared/domain/elicitations/row';
import { createObserver } from '@parley/shared/observe/observer';
import type { Backend } from '@parley/shared/ports/backend';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canary, findCanary } from '../../harness/canary.ts';
import { engineOn, withoutRows } from '../../harness/engines/engines.ts';
import { answerQuestion, askQuestion, newOwner, serviceOf } from '../../harness/engines/questions.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { smallBackend, startWatchedPod, type WatchedPod } from './watched-pod.ts';

const pods: WatchedPod[] = [];
afterEach(() => Promise.all(pods.splice(0).map((pod) => pod.stop())));

/** A watched pod that goes with the test. */
async function podOn(backend: Backend, options?: { traced: boolean }): Promise<WatchedPod> {
  const pod = await startWatchedPod(backend, options);
  pods.push(pod);
  return pod;
}

/** The only span of that name, and who it links to. */
function only(pod: WatchedPod, name: string) {
  const [span, ...others] = pod.spans(name);
  expect(others).toEqual([]);
  if (span === undefined) throw new Error(`no span ${name}`);
  const { traceId, spanId } = span.spanContext();
  const links = span.links.map(({ context }) => ({ traceId: context.traceId, spanId: context.spanId }));
  return { id: { traceId, spanId }, links, attributes: span.attributes, span };
}

describe('the steps of an elicitation on two pods', () => {
  const owner = newOwner();
  let asker: WatchedPod;
  let answerer: WatchedPod;

  beforeEach(async () => {
    const backend = smallBackend();
    asker = await podOn(backend);
    answerer = await podOn(backend);
  });

  const context = {
    trigger: 'credential_required',
    toolId: 'tool-7',
    toolName: 'calendar',
    credentialType: 'oauth2',
  };
  const ask = (more: Partial<AskInput> = {}) => askQuestion(asker.engine, owner, { context, ...more });

  it('answered elsewhere: the answer and the wake link to the asking span, in traces of their own', async () => {
    const { row } = await ask();
    const waited = asker.engine.wait({ caller: serviceOf(owner), id: row.id });
    // In memory, the waiter subscribes and reads within this turn of the event loop. An answer before that is found by the read.
    await new Promise(setImmediate);
    await answerQuestion(answerer.engine, owner, row.id, 'accept', { colour: 'red' });
    await waited;

    const requested = only(asker, 'elicitation.requested');
    const completed = only(answerer, 'elicitation.completed');
    const resumed = only(asker, 'elicitation.resumed');
    expect(requested.links).toEqual([]);
    expect(completed.links).toEqual([requested.id]);
    expect(resumed.links).toEqual([requested.id]);
    expect(new Set([requested, completed, resumed].map(({ id }) => id.traceId)).size).toBe(3);
    const { startTime, endTime, ...wait } = only(answerer, 'elicitation.wait').span;
    expect(wait.parentSpanContext).toMatchObject(requested.id);
    expect(wait.attributes).toMatchObject({ 'elicitation.id': row.id, 'elicitation.outcome': 'accepted' });
    const settled = (await asker.engine.read(serviceOf(owner), row.id)).row.settledAt ?? 0;
    expect([startTime, endTime].map(([s, ns]) => s * 1e3 + ns / 1e6)).toEqual([row.createdAt, settled]);
    const common = {
      'elicitation.id': row.id,
      'elicitation.mode': 'form',
      'elicitation.trigger': 'credential_required',
      'tool.id': 'tool-7',
      'tenant.id': owner.tenant,
      'enduser.id': expect.stringMatching(/^[0-9a-f]{16}$/),
    };
    expect(requested.attributes).toEqual({ ...common, 'elicitation.surface': 'api' });
    expect(completed.attributes).toEqual({
      ...common,
      'elicitation.surface': 'test',
      'elicitation.action': 'accept',
      'elicitation.outcome': 'accepted',
    });
    expect(resumed.attributes).toEqual({
      ...common,
      'elicitation.outcome': 'accepted',
      'elicitation.wake_source': 'push',
    });
  });

  it('logs asked and answered, each on its pod, with the fields that an operator needs', async () => {
    const { row } = await ask();
    await answerQuestion(answerer.engine, owner, row.id, 'accept', { colour: 'red' });
    const common = {
      level: 'info',
      time: expect.any(String),
      service: 'test',
      pod: 'pod',
      elicitationId: row.id,
      streamRequestId: row.definition.streamRequestId,
      tenant: owner.tenant,
      userId: owner.userId,
      mode: 'form',
      ...context,
    };
    expect(asker.said()).toEqual([{ ...common, surface: 'api', msg: 'elicitation asked' }]);
    expect(answerer.said()).toEqual([
      {
        ...common,
        surface: 'test',
        outcome: 'accepted',
        durationMs: expect.any(Number),
        msg: 'elicitation answered',
      },
    ]);
  });

  it.each([
    ['decline', 'elicitation.declined', 'declined'],
    ['cancel', 'elicitation.declined', 'cancelled'],
  ] as const)('%s: shows as %s, with its own outcome', async (action, name, outcome) => {
    const { row } = await ask();
    await answerQuestion(answerer.engine, owner, row.id, action);
    expect(only(answerer, name)).toMatchObject({
      links: [only(asker, 'elicitation.requested').id],
      attributes: { 'elicitation.action': action, 'elicitation.outcome': outcome },
    });
    expect(answerer.said()).toMatchObject([{ outcome, msg: `elicitation ${outcome}` }]);
  });

  it('no answer: a timeout, with the delay of its recording', async () => {
    const { row } = await ask({ timeoutSeconds: 1 });
    await waitUntil(async () => (await answerer.engine.expire(row.id)).type === 'expired', {
      what: 'the deadline',
    });
    const timeout = only(answerer, 'elicitation.timeout');
    expect(timeout.links).toEqual([only(asker, 'elicitation.requested').id]);
    expect(timeout.attributes).not.toHaveProperty('elicitation.action');
    expect(answerer.said()).toMatchObject([{ outcome: 'expired', msg: 'elicitation expired' }]);
    const scraped = await answerer.scrape();
    expect(scraped).toContain('parley_elicitation_expired_late_seconds_count 1\n');
    expect(scraped).toContain('{trigger="credential_required",outcome="expired"} 1\n');
    expect(scraped).not.toMatch(/parley_elicitation_responses_total\{.*\} [1-9]/);
  });

  it('withdrawn with its reason, and without a response', async () => {
    const { row } = await ask();
    await answerer.engine.withdraw({ caller: serviceOf(owner), id: row.id, reason: 'superseded' });
    expect(only(answerer, 'elicitation.withdrawn')).toMatchObject({
      links: [only(asker, 'elicitation.requested').id],
      attributes: { 'elicitation.outcome': 'withdrawn', 'elicitation.reason': 'superseded' },
    });
    expect(answerer.said()).toMatchObject([{ reason: 'superseded', msg: 'elicitation withdrawn' }]);
    expect(await answerer.scrape()).not.toMatch(/parley_elicitation_responses_total\{.*\} [1-9]/);
  });

  it('a refused ask ends its span with the code; a repeated one is marked as repeated', async () => {
    const pod = await podOn(smallBackend(1));
    const request = {
      tenant: owner.tenant,
      input: { userId: owner.userId, mode: 'url', message: '?', url: 'https://a.example', timeoutSeconds: 9 },
      idempotencyKey: 'once',
    } as const;
    await pod.engine.ask(request);
    await pod.engine.ask(request);
    await expect(askQuestion(pod.engine, owner)).rejects.toMatchObject({ code: 'rate_limited' });
    const [first, again, refused] = pod.spans('elicitation.requested').map(({ attributes }) => attributes);
    expect(first).toHaveProperty('elicitation.id');
    expect(again).toEqual({ 'elicitation.replayed': true });
    expect(refused).toEqual({ 'error.type': 'rate_limited' });
    expect(pod.said().map(({ msg }) => msg)).toEqual(['elicitation asked']);
  });

  it('an overdue question that the sweep cannot expire is counted and named', async () => {
    const backend = smallBackend();
    const pod = await podOn(backend);
    const { row } = await askQuestion(pod.engine, owner, { timeoutSeconds: 0.001 });
    const elicitations = withoutRows(backend.elicitations, new Set([row.id]));
    const sweeping = await podOn({ ...backend, elicitations });
    await waitUntil(() => sweeping.engine.sweep().then(() => sweeping.said().length > 0), {
      what: 'the deadline',
    });
    expect(sweeping.said()[0]).toMatchObject({
      elicitationId: row.id,
      msg: 'sweep cannot expire an overdue elicitation',
    });
    expect(await sweeping.scrape()).toMatch(/^parley_sweep_failures_total [1-9]/m);
  });

  it('a fault in an observer has no effect on the elicitation', async () => {
    const broken = await podOn(smallBackend());
    const span = { spanContext: () => ({ traceId: '', spanId: '', traceFlags: TraceFlags.NONE }) } as Span;
    const tracer = { startSpan: () => span, startActiveSpan: () => undefined } as never;
    const observer = createObserver({ log: {} as never, tracer, metrics: broken.metrics });
    const engine = engineOn(smallBackend(), { observer });
    const { row } = await askQuestion(engine, owner);
    await answerQuestion(engine, owner, row.id, 'accept', { colour: 'red' });
    expect((await engine.wait({ caller: serviceOf(owner), id: row.id })).row.status).toBe('accepted');
    expect(() => observer.timerFailed(row.id, undefined)).not.toThrow();
  });
});

describe('secrets', () => {
  const FIELDS = ['message', 'title', 'description', 'url', 'schema', 'extra', 'surface', 'trace'] as const;
  const ANSWERS = ['content', 'response', 'default'] as const;
  const marks = Object.fromEntries([...FIELDS, ...ANSWERS].map((name) => [name, canary(name)])) as Record<
    (typeof FIELDS)[number] | (typeof ANSWERS)[number],
    string
  >;
  const asked = {
    message: marks.message,
    title: marks.title,
    description: marks.description,
    context: { trigger: 'agent', hint: marks.extra, surface: marks.surface },
    timeoutSeconds: 600,
  };
  const form = {
    ...asked,
    mode: 'form',
    sensitive: true,
    requestedSchema: { type: 'object', properties: { pin: { type: 'string', title: marks.schema } } },
    onUnavailable: { content: { pin: marks.default } },
  } as const;

  it.each([true, false])('never show in logs, spans or a scrape, with tracing %s', async (traced) => {
    const owner = newOwner();
    const pod = await podOn(smallBackend(), { traced });
    const one = await askQuestion(pod.engine, owner, form);
    const two = await askQuestion(pod.engine, owner, {
      ...asked,
      mode: 'url',
      url: `https://pages.example/${marks.url}`,
    });
    const waited = pod.engine.wait({ caller: serviceOf(owner), id: one.row.id });
    const caller = { kind: 'user', ...owner } as const;
    const response = {
      action: 'accept',
      content: { pin: marks.content },
      responseId: marks.response,
    } as const;
    await pod.engine.answer({ caller, id: one.row.id, response, surface: 'chat' });
    await pod.engine.withdraw({ caller: serviceOf(owner), id: two.row.id, reason: 'superseded' });
    expect((await waited).row.settlement?.content).toEqual({ pin: marks.content });

    const shown = [
      ...pod.lines,
      await pod.scrape(),
      ...pod
        .spans()
        .map(({ name, attributes, links, events, status }) =>
          JSON.stringify({ name, attributes, links, events, status }),
        ),
    ];
    expect(pod.lines).toHaveLength(4);
    expect(pod.spans()).toHaveLength(traced ? 7 : 0);
    for (const mark of Object.values(marks)) expect(findCanary(mark, shown)).toEqual([]);
  });

  it('of a user: the id is plain in the log only, and hashed in spans', async () => {
    const owner = { ...newOwner(), userId: canary('user') };
    const pod = await podOn(smallBackend());
    await askQuestion(pod.engine, owner);
    expect(findCanary(owner.userId, pod.lines)).toHaveLength(1);
    const spans = pod.spans().map(({ attributes }) => JSON.stringify(attributes));
    expect(findCanary(owner.userId, [...spans, await pod.scrape()])).toEqual([]);
  });

  it.each([
    marks.trace,
    `00-${marks.trace}-b7ad6b7169203331-01`,
    `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-${marks.trace}`,
    '00-00000000000000000000000000000000-b7ad6b7169203331-01',
    '',
  ])('in an invalid traceparent (%#): no link, and the text appears nowhere', async (traceparent) => {
    const backend = smallBackend();
    const pod = await podOn(backend);
    const owner = newOwner();
    const { row } = await askQuestion(engineOn(backend), owner);
    const odd: Row = { ...row, status: 'declined', definition: { ...row.definition, traceparent } };
    pod.observer.settled(odd);
    pod.observer.resumed(odd, 'read');
    expect(pod.spans().map(({ name, links }) => ({ name, links }))).toEqual([
      { name: 'elicitation.declined', links: [] },
      { name: 'elicitation.resumed', links: [] },
    ]);
    const shown = [...pod.lines, ...pod.spans().map(({ attributes }) => JSON.stringify(attributes))];
    expect(findCanary(marks.trace, shown)).toEqual([]);
  });
});
