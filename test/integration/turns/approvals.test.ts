import { ParleyError } from '@parley/core/domain/errors';
import type { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import { notFound } from '@parley/shared/domain/caller';
import type { ConversationRef, Support } from '@parley/shared/domain/runs/run';
import type { RunNote } from '@parley/shared/ports/runs/runs';
import { eraseConversation } from '@parley/shared/runs/erase/conversation';
import { describe, expect, it } from 'vitest';
import { FOR_ALL } from '../../../services/api/src/agents/mcp/visibility.ts';
import type { Tool, ToolCall } from '../../../services/api/src/agents/run/tool.ts';
import { withApproval } from '../../../services/api/src/agents/tools/approvals/gate.ts';
import { type ApprovalPolicy, policyOf } from '../../../services/api/src/agents/tools/approvals/policy.ts';
import { decideTogether, endBefore } from '../../../services/api/src/turns/approvals/continue.ts';
import { startInChat } from '../../../services/api/src/turns/approvals/message.ts';
import { dispatchOn } from '../../harness/engines/engines.ts';
import { elicit, posting, talk } from '../../harness/turns/setup.ts';
import { modelOf, SURE, type World, worldOn } from '../../harness/turns/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { startDyingPod } from './dying-pod.ts';

const model = modelOf(({ userText, results }) => {
  const next = userText.split(' then ')[results.length];
  if (next === undefined) return { text: results.map(({ text }) => text).join(' | ') };
  const calls = next.split(' and ').map((booking) => ({
    name: 'cancel',
    arguments: { booking: booking === 'deep' ? nested(40) : booking, password: 'hunter2' },
  }));
  return { calls };
});

function nested(levels: number): unknown {
  return levels === 0 ? 'B-1' : [nested(levels - 1)];
}

const ALWAYS: ApprovalPolicy = {
  rule: 'always',
  remember: 'conversation',
  risk: 'low',
  tags: ['bookings'],
  demands: () => true,
};
const SOURCE = {
  name: 'cancel',
  modelName: 'cancel',
  description: 'Cancels.',
  inputSchema: {
    type: 'object',
    properties: { booking: { type: 'string', minLength: 1 }, password: { type: 'string' } },
    required: ['booking'],
  },
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  visibility: FOR_ALL,
};
const MASKED = { password: '••••••' };

/** A tool that keeps what it sends, and needs no approval. */
function plainTool(sent: unknown[]): Tool {
  const { name, description, inputSchema } = SOURCE;
  return {
    name,
    description,
    inputSchema,
    async call({ beforeDispatch }) {
      sent.push(await beforeDispatch());
      return { type: 'returned', output: 'cancelled' };
    },
  };
}

/** A tool that keeps what it sends. */
function cancelTool(
  sent: unknown[],
  policy: ApprovalPolicy = ALWAYS,
  server = 'bookings',
  name = SOURCE.name,
): Tool {
  const source = { ...SOURCE, name, modelName: name };
  return withApproval(plainTool(sent), {
    policy,
    server,
    serverTitle: 'Bookings',
    source,
    timeoutSeconds: 600,
  });
}

const SUPPORT: Support = { form: true, url: true };
const SENT = (booking: string) => ({ booking, password: 'hunter2' });
const EDIT = { decision: 'edit', arguments: { ...MASKED, booking: 'B-9' } } as const;

/** A person whose agent cancels bookings, and the arguments with which it did. */
function open() {
  const world = worldOn(model);
  return { ...world, ...personOf(world), sent: [] as unknown[] };
}

/** What a person does with the approvals that their agents need. */
function personOf({ engine, conversation: own, ended, text }: World) {
  const listed = async ({ tenant, userId }: ConversationRef) =>
    (await engine.approvals.list({ owner: { tenant, userId }, limit: 50 })).rows;
  const pending = async (of: ConversationRef) =>
    (await listed(of)).filter(({ status }) => status === 'pending');
  return {
    listed: () => listed(own),
    pending: () => pending(own),
    async needed(count = 1, of = own) {
      await waitUntil(async () => (await pending(of)).length === count, { what: `${count} approvals` });
      return pending(of);
    },
    decide: (id: string | undefined, response: ApprovalInput, { tenant, userId } = own) =>
      engine.approvals.decide({
        caller: { kind: 'user', tenant, userId },
        id: id ?? '',
        response,
        surface: 'chat',
      }),
    /** What the agent has said once its turn is over. */
    async saidAtEnd(run: Parameters<World['ended']>[0]) {
      await ended(run);
      return text(run);
    },
  };
}

/** What comes with a message whose person has approved a call above it. */
function approving(id = '') {
  return { decisions: [{ id, response: { decision: 'approve' } as const }], admit: async () => undefined };
}

/** A turn of such a person, on a pod with the tool. */
async function begin(said: string, toolOf = cancelTool, support = SUPPORT) {
  const person = open();
  const { turns } = person.pod({ agents: { helper: { tools: [toolOf(person.sent)] } } });
  const run = await turns.begin({ ...person.saying(said), support });
  return { ...person, turns, run };
}

describe('a call that must be approved', () => {
  it('sends nothing before; calls of one step are asked together, with their secrets masked', async () => {
    const { run, sent, needed, decide, saidAtEnd, events } = await begin('B-1 and B-2');
    const rows = await needed(2);
    expect(sent).toEqual([]);
    expect(new Set(rows.map(({ definition }) => definition.step)).size).toBe(1);
    for (const { definition } of rows) {
      expect(definition).toMatchObject({ arguments: MASKED, masked: ['/password'], agent: 'The helper' });
      expect(definition).toMatchObject({
        risk: 'low',
        tags: ['bookings'],
        tool: { server: 'bookings', serverTitle: 'Bookings' },
      });
      expect(JSON.stringify(definition)).not.toContain('hunter2');
    }
    const idOf = (booking: string) =>
      rows.find(({ definition }) => definition.arguments.booking === booking)?.id;
    await decide(idOf('B-1'), { decision: 'approve' });
    await decide(idOf('B-2'), { decision: 'deny', reason: 'Keep that one.' });
    const text = await saidAtEnd(run);
    expect(sent).toEqual([SENT('B-1')]);
    expect(text).toContain('cancelled');
    expect(text).toContain('Keep that one.');
    const called = (await events(run)).filter(({ type }) => type === 'tool-called');
    expect(called).toMatchObject([
      { input: { booking: 'B-1', ...MASKED } },
      { input: { booking: 'B-2', ...MASKED } },
    ]);
  });

  it('is not made with arguments that an approval could not show in full', async () => {
    const { run, sent, listed, ended, events } = await begin('deep');
    await ended(run);
    expect(await listed()).toEqual([]);
    const told = await events(run);
    expect(JSON.stringify(told)).toContain('nested too deeply');
    expect(told.find(({ type }) => type === 'tool-called')).toMatchObject({ input: MASKED.password });
    const call = { input: ['B-1'], beforeDispatch: async () => ['B-1'] } as unknown as ToolCall;
    expect(await cancelTool(sent).call(call)).toMatchObject({ type: 'failed' });
    expect(sent).toEqual([]);
  });

  it('sends and records the arguments that the person edited, with the masked values as they were', async () => {
    const { run, sent, needed, decide, saidAtEnd, record } = await begin('B-1');
    const id = (await needed())[0]?.id;
    const wrong = { decision: 'edit', arguments: { ...MASKED, booking: '' } } as const;
    await expect(decide(id, wrong)).rejects.toMatchObject({ code: 'invalid_answer' });
    await decide(id, EDIT);
    expect(await saidAtEnd(run)).toContain('changed the arguments');
    expect(sent).toEqual([SENT('B-9')]);
    expect(await record(run)).toMatchObject({
      calls: [{ approval: { id, outcome: 'edited', input: SENT('B-9') } }],
      pauses: [{ elicitationId: id, trigger: 'approval', outcome: 'edited' }],
    });
  });

  it('is denied where no person takes part', async () => {
    const nobody: Support = { form: false, url: false, unattended: true };
    const { run, sent, listed, saidAtEnd } = await begin('B-1', cancelTool, nobody);
    expect(await saidAtEnd(run)).toContain('no person takes part');
    expect(sent).toEqual([]);
    expect(await listed()).toEqual([]);
  });

  it('is withdrawn when its turn is stopped, and is not made', async () => {
    const { sent, needed, conversation, turns, engine } = await begin('B-1');
    const [row] = await needed();
    await turns.stop(conversation);
    const caller = { kind: 'service', tenant: conversation.tenant } as const;
    const ended = await engine.approvals.wait({ caller, id: row?.id ?? '' });
    expect(ended.row).toMatchObject({ status: 'withdrawn', settlement: { reason: 'run_stopped' } });
    expect(sent).toEqual([]);
  });

  it('is denied by a message, which waits for the end of the turn also when it is sent again', async () => {
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const holding = (sent: unknown[]): Tool => {
      const tool = cancelTool(sent);
      const call: Tool['call'] = async (given) => {
        const outcome = await tool.call(given);
        if (outcome.type === 'returned') await held;
        return outcome;
      };
      return { ...tool, call };
    };
    const { sent, needed, turns, engine, conversation, listed, run, record } = await begin(
      'B-1 and B-2',
      holding,
    );
    const [open] = await needed(2);
    let asks = 0;
    const resumable: typeof turns.resumable = (...of) => {
      asks += 1;
      return turns.resumable(...of);
    };
    const deps = { engine, turns: { ...turns, resumable } };
    const leaving = new AbortController();
    const beside = { decided: approving(open?.id), signal: leaving.signal };
    const first = startInChat(deps, posting(conversation, 'B-3'), beside);
    await waitUntil(() => sent.length === 1, { what: 'the approved call' });
    leaving.abort();
    await expect(first).rejects.toMatchObject({ code: 'turn_running' });
    const { signal } = new AbortController();
    const again = startInChat(deps, posting(conversation, 'B-3'), { signal });
    await waitUntil(() => asks === 2, { what: 'the message to find the turn' });
    goOn();
    expect((await again).run.streamRequestId).not.toBe(run.streamRequestId);
    expect((await record(run))?.steps).toHaveLength(1);
    await needed(1);
    expect((await listed()).map(({ status }) => status).sort()).toEqual(['approved', 'denied', 'pending']);
  });

  it.each(['with the message', 'in another tab'])(
    'is denied by a message also where it follows a call that was approved %s',
    async (where) => {
      const { needed, turns, engine, conversation, listed } = await begin('B-1 then B-2');
      const [open] = await needed();
      const isHere = where === 'with the message';
      const decide: typeof engine.approvals.decide = async (given) => {
        // The other tab decides before the denial of the message.
        if (given.id === open?.id)
          await engine.approvals.decide({ ...given, response: { decision: 'approve' } });
        return engine.approvals.decide(given);
      };
      const deps = { engine: { ...engine, approvals: { ...engine.approvals, decide } }, turns };
      const { signal } = new AbortController();
      const beside = { ...(isHere && { decided: approving(open?.id) }), signal };
      await startInChat(deps, posting(conversation, 'B-3'), beside);
      await needed();
      expect((await listed()).map(({ status }) => status).reverse()).toEqual([
        'approved',
        'denied',
        'pending',
      ]);
    },
  );

  it('is decided by a click beside a message once that is admitted; else nothing is decided', async () => {
    const { needed, turns, engine, conversation, pending } = await begin('B-1 and B-2');
    const [open] = await needed(2);
    const admitted: string[] = [];
    const admit = async (id: string) => {
      admitted.push(id);
      throw notFound();
    };
    const beside = { decided: { ...approving(open?.id), admit }, signal: new AbortController().signal };
    const refused = startInChat({ engine, turns }, posting(conversation, 'B-3'), beside);
    await expect(refused).rejects.toMatchObject({ code: 'not_found' });
    expect([admitted, (await pending()).length]).toEqual([[open?.id], 2]);
  });

  it('is found after a take-over, asked once and made at most once, whichever write its pod died at', async () => {
    /** How many writes the first pod made, and what was sent. */
    async function dyingAt(last: number) {
      const world = worldOn(model);
      const { pending, decide, listed } = personOf(world);
      const sent: unknown[] = [];
      const agents = { helper: { tools: [cancelTool(sent)] } };
      const isLast = (_write: unknown, count: number) => count === last;
      const { turns, state } = startDyingPod(world, model.current, agents, 'before its reply', isLast);
      const second = world.pod({ agents, pod: 'second' });
      const run = await turns.begin(world.saying('B-1'));
      const leave = second.turns.attend(run);
      await waitUntil(
        async () => {
          const [open] = await pending();
          if (open !== undefined) await decide(open.id, { decision: 'approve' });
          return (await world.standing(run))?.status !== 'running';
        },
        { what: `the end of a turn whose pod died at write ${last}` },
      );
      leave();
      expect((await listed()).map(({ status }) => status)).toEqual(['approved']);
      return { writes: state.writes, sent };
    }
    const { writes, sent } = await dyingAt(Number.POSITIVE_INFINITY);
    expect(sent).toHaveLength(1);
    expect(writes).toBeGreaterThan(3);
    for (let last = 2; last <= writes; last += 1)
      expect((await dyingAt(last)).sent.length, `write ${last}`).toBeLessThanOrEqual(1);
  });
});

it.each([
  ['approval', (tool: Tool, given: ToolCall) => tool.call(given)],
  ['question', (_tool: Tool, given: ToolCall) => elicit.call({ ...given, input: SURE.arguments })],
] as const)(
  'a call asks nothing, and leaves no %s, once its conversation was deleted',
  async (_what, ask) => {
    const states = { calling: false, over: false };
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const holding = (sent: unknown[]): Tool => {
      const tool = cancelTool(sent);
      const call: Tool['call'] = async (given) => {
        states.calling = true;
        await held;
        return ask(tool, given).finally(() => {
          states.over = true;
        });
      };
      return { ...tool, call };
    };
    const { conversation, backend, engine, listed } = await begin('B-1', holding);
    await waitUntil(() => states.calling, { what: 'the call' });
    const parts = {
      backend,
      engine,
      deliveries: dispatchOn(backend),
      elicitationLimits: () => [],
      graceMs: 0,
    };
    expect(await eraseConversation(parts, conversation)).toBe(true);
    goOn();
    await waitUntil(() => states.over, { what: 'the end of the call' });
    const { tenant, userId } = conversation;
    const questions = await engine.list({ owner: { tenant, userId }, limit: 5 });
    expect([await listed(), questions.rows]).toEqual([[], []]);
  },
);

it('a turn whose call a message denied ends also on the next pod, without another word', async () => {
  const world = worldOn(model);
  const { needed, saidAtEnd } = personOf(world);
  const agents = { helper: { tools: [cancelTool([])] } };
  const isDenied = ({ notes }: { readonly notes?: readonly RunNote[] }) =>
    notes?.some((note) => note.type === 'call' && note.call.state === 'failed') === true;
  const first = startDyingPod(world, model.current, agents, 'before its reply', isDenied);
  const second = world.pod({ agents, pod: 'second' });
  const run = await first.turns.begin(world.saying('B-1'));
  await needed();
  const deps = { engine: world.engine, turns: second.turns };
  const { signal } = new AbortController();
  await startInChat(deps, posting(world.conversation, 'B-2'), { signal });
  expect(await saidAtEnd(run)).toBe('');
  expect(await world.record(run)).toMatchObject({
    status: 'stopped',
    steps: [{ finishReason: 'tool-calls' }],
  });
});

describe('a call that was put to its person', () => {
  const NEVER: ApprovalPolicy = { ...ALWAYS, demands: () => false };
  const policyThatAsksNever = (sent: unknown[]) => cancelTool(sent, NEVER);
  const asked = (type: 'request' | 'pause' | 'call') => (note: RunNote) =>
    type === 'call'
      ? note.type === 'call' && note.call.approval !== undefined
      : note.type === 'pause' && note.pause.trigger === 'approval';

  it.each([
    ['denied', 'request', plainTool, { decision: 'deny' }, []],
    ['edited', 'request', plainTool, EDIT, [SENT('B-9')]],
    ['denied', 'pause', plainTool, { decision: 'deny' }, []],
    ['edited', 'pause', policyThatAsksNever, EDIT, [SENT('B-9')]],
    ['edited and recorded', 'call', plainTool, EDIT, [SENT('B-9')]],
  ] as const)(
    'and %s (its pod died at the %s) is made as they decided by the next pod, which demands no approval',
    async (...row) => {
      const [, diesAt, toolOf, decision, expected] = row;
      const world = worldOn(model);
      const { needed, decide, saidAtEnd } = personOf(world);
      const sent: unknown[] = [];
      const first = startDyingPod(
        world,
        model.current,
        { helper: { tools: [cancelTool(sent)] } },
        // At the request, the approval was requested, and the record of the run does not say so.
        diesAt === 'request' ? 'before it is made' : 'before its reply',
        ({ notes }) => notes?.some(asked(diesAt)) === true,
      );
      const second = world.pod({ agents: { helper: { tools: [toolOf(sent)] } }, pod: 'second' });
      const run = await first.turns.begin(world.saying('B-1'));
      const [open] = await needed();
      const leave = second.turns.attend(run);
      if (diesAt !== 'call') {
        await world.untilOwnedBy(run, 'second');
        expect(sent).toEqual([]);
      }
      await decide(open?.id, decision);
      const text = await saidAtEnd(run);
      leave();
      expect(sent).toEqual(expected);
      expect(text).toContain(decision.decision === 'deny' ? 'denied' : 'changed the arguments');
    },
  );
});

describe('a remembered approval', () => {
  it('holds in its conversation, for its tool, rule, user and tenant, and for nothing else', async () => {
    const person = open();
    const { sent, conversation: owner, engine, needed, decide } = person;
    const say = (text: string, tool = cancelTool(sent), of = owner) =>
      person.pod({ agents: { helper: { tools: [tool] } } }).turns.begin(person.saying(text, of));
    const first = await say('B-1');
    const id = (await needed())[0]?.id;
    await decide(id, { decision: 'approve', remember: true });
    await person.ended(first);
    const again = await say('B-2');
    await person.ended(again);
    expect(sent).toHaveLength(2);
    const { calls = [] } = (await person.record(again)) ?? {};
    expect(calls[0]?.approval).toEqual({ id, outcome: 'remembered' });

    const ofAnother: readonly [what: string, conversation: ConversationRef, tool: Tool][] = [
      ['another conversation', { ...owner, conversationId: 'other' }, cancelTool(sent)],
      ['another user', { ...owner, userId: 'grace@example.com' }, cancelTool(sent)],
      ['another tenant', { ...talk(), userId: owner.userId }, cancelTool(sent)],
      ['another rule', owner, cancelTool(sent, { ...ALWAYS, rule: 'another' })],
      ['the tool of another server', owner, cancelTool(sent, ALWAYS, 'elsewhere')],
      ['another tool of the server', owner, cancelTool(sent, ALWAYS, 'bookings', 'refund')],
    ];
    for (const [what, conversation, tool] of ofAnother) {
      const run = await say('B-3', tool, conversation);
      const [asked] = await needed(1, conversation);
      expect(sent, what).toHaveLength(2);
      await decide(asked?.id, { decision: 'deny' }, conversation);
      await person.ended(run);
    }
    expect(sent).toHaveLength(2);

    const [grant, ...more] = await engine.approvals.grants.list(owner);
    expect(more).toEqual([]);
    expect(grant).toMatchObject({ tool: 'cancel', server: 'bookings', conversationId: 'talk' });
    await engine.approvals.grants.revoke(owner, grant?.grantId ?? '');
    await say('B-4');
    await needed();
    expect(sent).toHaveLength(2);
  });
});

it('decisions of one request are admitted each, once an approval, limited in number, and recorded all or not at all', async () => {
  const admitted: string[] = [];
  const decided: string[] = [];
  const definition = { tenant: 'acme', userId: 'ada', streamRequestId: 's' };
  const engine = {
    approvals: {
      read: async () => ({ row: { definition }, now: 0 }),
      decide: async ({ id, isTrial }: { id: string; isTrial?: boolean }) => {
        if (id === 'ap_edited') throw new ParleyError('invalid_answer', 'The edit does not fit.');
        if (isTrial !== true) decided.push(id);
      },
    },
  } as unknown as Parameters<typeof decideTogether>[0];
  const decideOn = (ids: readonly string[]) =>
    decideTogether(engine, {
      caller: { kind: 'user', tenant: 'acme', userId: 'ada' },
      conversationId: 'talk',
      decisions: ids.map((id) => ({ id, response: { decision: 'approve' } })),
      surface: 'chat',
      admit: async (id) => void admitted.push(id),
    });
  await decideOn(['ap_1', 'ap_2', 'ap_1', 'ap_1']);
  expect(admitted).toEqual(['ap_1', 'ap_2']);
  expect(decided).toEqual(['ap_1', 'ap_2']);
  const many = Array.from({ length: 101 }, (_, at) => `ap_${at}`);
  await expect(decideOn(many)).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(decideOn(['ap_3', 'ap_edited'])).rejects.toMatchObject({ code: 'invalid_answer' });
  expect(decided).toHaveLength(2);
});

it('a turn continues although an earlier approval of it has left with its retention', async () => {
  const definition = { tenant: 'acme', userId: 'ada', streamRequestId: 's', toolCallId: 'second' };
  const changed = (approvalId: string, status: string, revision: number) => ({
    type: status === 'pending' ? 'approval-request' : 'approval-resolved',
    approvalId,
    status,
    revision,
  });
  const called = (toolCallId: string) => ({ type: 'tool-called', toolCallId, toolName: 't', input: {} });
  const events = [
    called('first'),
    changed('ap_gone', 'pending', 1),
    changed('ap_gone', 'approved', 2),
    { type: 'tool-returned', toolCallId: 'first', output: 'x' },
    { type: 'step-finished', step: 0 },
    called('second'),
    changed('ap_open', 'pending', 1),
    changed('ap_open', 'approved', 2),
  ];
  const decided: string[] = [];
  const engine = {
    async *replay() {
      for (const [at, event] of events.entries()) yield { position: { epoch: 'e', seq: at + 1 }, event };
    },
    approvals: {
      async read(_caller: unknown, id: string) {
        if (id !== 'ap_open') throw notFound();
        return { row: { definition }, now: 0 };
      },
      decide: async ({ id, isTrial }: { id: string; isTrial?: boolean }) => {
        if (isTrial !== true) decided.push(id);
      },
    },
  } as unknown as Parameters<typeof decideTogether>[0] & Parameters<typeof endBefore>[0];
  const caller = { kind: 'user', tenant: 'acme', userId: 'ada' } as const;
  const decideOn = (...ids: string[]) =>
    decideTogether(engine, {
      caller,
      conversationId: 'talk',
      decisions: ids.map((id) => ({ id, response: { decision: 'approve' } })),
      surface: 'chat',
      admit: async () => undefined,
    });
  const stream = await decideOn('ap_gone', 'ap_open');
  expect(decided).toEqual(['ap_open']);
  await expect(decideOn('ap_gone')).rejects.toMatchObject({ code: 'not_found' });
  expect(await endBefore(engine, caller, stream, ['ap_gone', 'ap_open'])).toMatchObject({ seq: 7 });
  expect(await endBefore(engine, caller, stream, ['ap_open'])).toMatchObject({ seq: 7 });
});

describe('a policy', () => {
  const server = (entry: object, tools: object = {}) =>
    ({ id: 'bank', approval: entry, toolApprovals: tools }) as Parameters<typeof policyOf>[0];
  const HARMLESS = { ...SOURCE.hints, readOnlyHint: true, openWorldHint: false };
  const demanded = (entry: object, args: Record<string, unknown>, hints = HARMLESS) =>
    policyOf(server({ remember: 'never', ...entry }), undefined, { name: 'pay' })?.demands(args, hints) ===
    true;

  it('follows its rule over the arguments; a rule that cannot be evaluated asks', () => {
    const rule = { ask: 'when', rule: 'args.amount > 100 && args.to.startsWith("DE")' };
    expect(demanded(rule, { amount: 150, to: 'DE1' })).toBe(true);
    expect(demanded(rule, { amount: 50, to: 'DE1' })).toBe(false);
    expect(demanded(rule, { amount: 150 })).toBe(true);
    expect(demanded(rule, { to: 'DE1' })).toBe(true);
  });

  it('gives the risk that its entry names, and keeps what is remembered when that changes', () => {
    const of = (risk: object) =>
      policyOf(server({ ask: 'always', remember: 'never', ...risk }), undefined, { name: 'pay' });
    expect([of({})?.risk, of({ risk: 'medium' })?.risk]).toEqual([undefined, 'medium']);
    expect(of({ risk: 'medium' })?.rule).toBe(of({})?.rule);
  });

  it('has another name for each rule over the arguments: what is remembered under one holds under no other', () => {
    const nameOf = (rule: string) =>
      policyOf(server({ ask: 'when', rule, remember: 'conversation' }), undefined, { name: 'pay' })?.rule;
    const rules = ['args.amount > 100', 'args.amount > 1000', 'args.to != "DE"'];
    const names = rules.map(nameOf);
    expect(new Set(names).size).toBe(rules.length);
    expect(rules.map(nameOf)).toEqual(names);
  });

  it('follows the annotations of the tool, and those of the tool before those of its server and agent', () => {
    const hints = { ask: 'when', hints: ['destructive'] };
    expect(demanded(hints, {})).toBe(false);
    expect(demanded(hints, {}, SOURCE.hints)).toBe(true);
    expect(demanded({ ask: 'when', hints: ['open_world'] }, {}, SOURCE.hints)).toBe(true);
    const never = { ask: 'never', remember: 'never' };
    const always = { ask: 'always', remember: 'never' };
    const ofTool = server(always, { pay: never });
    expect(policyOf(ofTool, undefined, { name: 'pay' })).toBeUndefined();
    expect(policyOf(ofTool, undefined, { name: 'other' })).toBeDefined();
    const bare = { toolApprovals: {} } as Parameters<typeof policyOf>[0];
    expect(policyOf(bare, { approval: always } as never, { name: 'pay' })).toBeDefined();
  });
});
