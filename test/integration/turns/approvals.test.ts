import type { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import type { ConversationRef } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { Backend } from '@parley/shared/ports/backend';
import type { RunNote, Runs } from '@parley/shared/ports/runs/runs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import type { AgentsConfigError } from '../../../services/api/src/agents/config/fault.ts';
import { readAgentsConfig } from '../../../services/api/src/agents/config/load.ts';
import { withApproval } from '../../../services/api/src/agents/tools/approvals/gate.ts';
import { type ApprovalPolicy, policyOf } from '../../../services/api/src/agents/tools/approvals/policy.ts';
import type { Tool, ToolCall } from '../../../services/api/src/agents/tools/tool.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { podOn, readEvents, saying, talk } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { createDyingBackend } from './dying-backend.ts';

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({
    script: [
      ({ userText, results }) => {
        if (results.length > 0) return { text: results.map(({ text }) => text).join(' | ') };
        const [first, second] = userText.split(' and ');
        const calls = [first, second].filter((name) => name !== undefined);
        return {
          calls: calls.map((booking) => ({
            name: 'cancel',
            arguments: { booking: booking === 'deep' ? nested(40) : booking, password: 'hunter2' },
          })),
        };
      },
    ],
  });
});
afterAll(() => model.stop());

function nested(levels: number): unknown {
  return levels === 0 ? 'B-1' : [nested(levels - 1)];
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const ALWAYS: ApprovalPolicy = { rule: 'always', remember: 'conversation', demands: () => true };
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
  return withApproval(plainTool(sent), { policy, server, source, timeoutSeconds: 600 });
}

function podWith(backend: Backend, tool: Tool, options: Parameters<typeof podOn>[2] = {}) {
  const pod = podOn(backend, model, { agents: { helper: { tools: [tool] } }, ...options });
  closing.push(() => pod.turns.close());
  return pod;
}

async function pendingOf(engine: Engine, { tenant, userId }: ConversationRef) {
  const request = { owner: { tenant, userId }, statuses: ['pending'] as const, limit: 50 };
  return (await engine.approvals.list(request)).rows;
}

function untilPending(engine: Engine, conversation: ConversationRef, count = 1) {
  return waitUntil(
    async () => {
      const rows = await pendingOf(engine, conversation);
      return rows.length === count ? rows : undefined;
    },
    { what: `${count} open approvals`, everyMs: 5 },
  );
}

function decideAs(engine: Engine, owner: ConversationRef, id: string, response: ApprovalInput) {
  const caller = { kind: 'user', tenant: owner.tenant, userId: owner.userId } as const;
  return engine.approvals.decide({ caller, id, response, surface: 'chat' });
}

async function untilEnded(backend: Backend, run: Parameters<Runs['standing']>[0]): Promise<string> {
  await waitUntil(async () => (await backend.runs.standing(run))?.status !== 'running', {
    what: 'the end of the turn',
    everyMs: 5,
  });
  const events = await readEvents(backend, run);
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
}

describe('a call that must be approved', () => {
  it('sends nothing before; calls of one step are asked together, with their secrets masked', async () => {
    const backend = createMemoryBackend(ROOMY);
    const sent: unknown[] = [];
    const { engine, turns } = podWith(backend, cancelTool(sent));
    const conversation = talk();
    const run = await turns.begin(saying(conversation, 'B-1 and B-2'));
    const rows = await untilPending(engine, conversation, 2);
    expect(sent).toEqual([]);
    expect(new Set(rows.map(({ definition }) => definition.step)).size).toBe(1);
    for (const { definition } of rows) {
      expect(definition).toMatchObject({ arguments: MASKED, masked: ['/password'], agent: 'The helper' });
      expect(JSON.stringify(definition)).not.toContain('hunter2');
    }
    const byBooking = (booking: string) =>
      rows.find(({ definition }) => definition.arguments.booking === booking)?.id ?? '';
    await decideAs(engine, conversation, byBooking('B-1'), { decision: 'approve' });
    await decideAs(engine, conversation, byBooking('B-2'), { decision: 'deny', reason: 'Keep that one.' });
    const text = await untilEnded(backend, run);
    expect(sent).toEqual([{ booking: 'B-1', password: 'hunter2' }]);
    expect(text).toContain('cancelled');
    expect(text).toContain('Keep that one.');
    const called = (await readEvents(backend, run)).filter(({ type }) => type === 'tool-called');
    expect(called).toMatchObject([
      { input: { booking: 'B-1', ...MASKED } },
      { input: { booking: 'B-2', ...MASKED } },
    ]);
  });

  it('is not made with arguments that an approval could not show in full', async () => {
    const backend = createMemoryBackend(ROOMY);
    const sent: unknown[] = [];
    const { engine, turns } = podWith(backend, cancelTool(sent));
    const conversation = talk();
    const run = await turns.begin(saying(conversation, 'deep'));
    await waitUntil(async () => (await backend.runs.standing(run))?.status !== 'running', {
      what: 'the end of the turn',
      everyMs: 5,
    });
    expect((await engine.approvals.list({ owner: conversation, limit: 5 })).rows).toEqual([]);
    expect(JSON.stringify(await readEvents(backend, run))).toContain('nested too deeply');
    const call = { input: ['B-1'], beforeDispatch: async () => ['B-1'] } as unknown as ToolCall;
    expect(await cancelTool(sent).call(call)).toMatchObject({ type: 'failed' });
    expect(sent).toEqual([]);
  });

  it('sends and records the arguments that the person edited, with the masked values as they were', async () => {
    const backend = createMemoryBackend(ROOMY);
    const sent: unknown[] = [];
    const { engine, turns } = podWith(backend, cancelTool(sent));
    const conversation = talk();
    const run = await turns.begin(saying(conversation, 'B-1'));
    const [row] = await untilPending(engine, conversation);
    const id = row?.id ?? '';
    const wrong = { decision: 'edit', arguments: { ...MASKED, booking: '' } } as const;
    await expect(decideAs(engine, conversation, id, wrong)).rejects.toMatchObject({ code: 'invalid_answer' });
    await decideAs(engine, conversation, id, { decision: 'edit', arguments: { ...MASKED, booking: 'B-9' } });
    const text = await untilEnded(backend, run);
    expect(sent).toEqual([{ booking: 'B-9', password: 'hunter2' }]);
    expect(text).toContain('changed the arguments');
    const { run: record } = await backend.runs.read(run);
    expect(record?.calls[0]?.approval).toEqual({
      id,
      outcome: 'edited',
      input: { booking: 'B-9', password: 'hunter2' },
    });
    expect(record?.pauses).toMatchObject([{ elicitationId: id, trigger: 'approval', outcome: 'edited' }]);
  });

  it('is denied where no person takes part', async () => {
    const backend = createMemoryBackend(ROOMY);
    const sent: unknown[] = [];
    const { engine, turns } = podWith(backend, cancelTool(sent));
    const conversation = talk();
    const support = { form: false, url: false, unattended: true } as const;
    const run = await turns.begin({ ...saying(conversation, 'B-1'), support });
    expect(await untilEnded(backend, run)).toContain('no person takes part');
    expect(sent).toEqual([]);
    expect((await engine.approvals.list({ owner: conversation, limit: 5 })).rows).toEqual([]);
  });

  it('is withdrawn when its turn is stopped, and is not made', async () => {
    const backend = createMemoryBackend(ROOMY);
    const sent: unknown[] = [];
    const { engine, turns } = podWith(backend, cancelTool(sent));
    const conversation = talk();
    await turns.begin(saying(conversation, 'B-1'));
    const [row] = await untilPending(engine, conversation);
    await turns.stop(conversation);
    const caller = { kind: 'service', tenant: conversation.tenant } as const;
    const ended = await engine.approvals.wait({ caller, id: row?.id ?? '' });
    expect(ended.row).toMatchObject({ status: 'withdrawn', settlement: { reason: 'run_stopped' } });
    expect(sent).toEqual([]);
  });

  it('is found after a take-over, asked once and made at most once, whichever write its pod died at', async () => {
    let writes = 0;
    for (let at = 1; at === 1 || at <= writes; at += 1) {
      const backend = createMemoryBackend(ROOMY);
      const sent: unknown[] = [];
      const dead = { is: false, writes: 0 };
      const never = new Promise<never>(() => undefined);
      const runs: Runs = {
        ...backend.runs,
        async write(run, write) {
          if (dead.is) return never;
          dead.writes += 1;
          dead.is = at > 1 && dead.writes === at;
          const result = await backend.runs.write(run, write);
          return dead.is ? never : result;
        },
      };
      const leaseTiming = at === 1 ? { renewMs: 20, leaseMs: 20_000 } : { renewMs: 20, leaseMs: 200 };
      const heartbeats = {
        ...backend.heartbeats,
        beat: async (pod: string, ttlMs: number) => (dead.is ? never : backend.heartbeats.beat(pod, ttlMs)),
      };
      const first = podOn(backend, model, {
        agents: { helper: { tools: [cancelTool(sent)] } },
        runs,
        heartbeats,
        leaseTiming,
        pod: 'first',
      });
      const second = podWith(backend, cancelTool(sent), { leaseTiming, pod: 'second' });
      const conversation = talk();
      const run = await first.turns.begin(saying(conversation, 'B-1'));
      const leave = second.turns.attend(run);
      await waitUntil(
        async () => {
          const [open] = await pendingOf(second.engine, conversation);
          if (open !== undefined)
            await decideAs(second.engine, conversation, open.id, { decision: 'approve' });
          return (await backend.runs.standing(run))?.status !== 'running';
        },
        { what: `the end of a turn whose pod died at write ${at}`, everyMs: 5 },
      );
      leave();
      const { rows } = await second.engine.approvals.list({ owner: conversation, limit: 10 });
      expect(rows.map(({ status }) => status)).toEqual(['approved']);
      expect(sent.length).toBeLessThanOrEqual(1);
      if (at === 1) {
        expect(sent).toHaveLength(1);
        writes = dead.writes;
      }
    }
    expect(writes).toBeGreaterThan(3);
  });
});

describe('a call that was put to its person', () => {
  const NEVER: ApprovalPolicy = { ...ALWAYS, demands: () => false };
  const EDIT = { decision: 'edit', arguments: { ...MASKED, booking: 'B-9' } } as const;
  const asked = (type: 'request' | 'pause' | 'call') => (note: RunNote) =>
    type === 'call'
      ? note.type === 'call' && note.call.approval !== undefined
      : note.type === 'pause' && note.pause.trigger === 'approval';

  it.each([
    ['denied', 'request', plainTool, { decision: 'deny' }, []],
    ['edited', 'request', plainTool, EDIT, [{ booking: 'B-9', password: 'hunter2' }]],
    ['denied', 'pause', plainTool, { decision: 'deny' }, []],
    [
      'edited',
      'pause',
      (sent: unknown[]) => cancelTool(sent, NEVER),
      EDIT,
      [{ booking: 'B-9', password: 'hunter2' }],
    ],
    ['edited and recorded', 'call', plainTool, EDIT, [{ booking: 'B-9', password: 'hunter2' }]],
  ] as const)(
    'and %s (its pod died at the %s) is made as they decided by the next pod, which demands no approval',
    async (...row) => {
      const [, diesAt, toolOf, decision, expected] = row;
      const backend = createMemoryBackend(ROOMY);
      const sent: unknown[] = [];
      // At the request, the approval was requested, and the record of the run does not say so.
      const when = diesAt === 'request' ? 'before it is made' : 'before its reply';
      const { state: _state, ...dying } = createDyingBackend(
        backend,
        when,
        ({ notes }) => notes?.some(asked(diesAt)) === true,
      );
      const leaseTiming = { renewMs: 20, leaseMs: 200 };
      const agents = { helper: { tools: [cancelTool(sent)] } };
      const first = podOn(backend, model, { ...dying, agents, leaseTiming, pod: 'first' });
      const second = podWith(backend, toolOf(sent), { leaseTiming, pod: 'second' });
      const conversation = talk();
      const run = await first.turns.begin(saying(conversation, 'B-1'));
      const [open] = await untilPending(second.engine, conversation);
      const decide = () => decideAs(second.engine, conversation, open?.id ?? '', decision);
      const leave = second.turns.attend(run);
      if (diesAt !== 'call') {
        await waitUntil(async () => (await backend.runs.standing(run))?.owner.startsWith('second/'), {
          what: 'the take-over',
          everyMs: 5,
        });
        expect(sent).toEqual([]);
      }
      await decide();
      const text = await untilEnded(backend, run);
      leave();
      expect(sent).toEqual(expected);
      expect(text).toContain(decision.decision === 'deny' ? 'denied' : 'changed the arguments');
    },
  );
});

describe('a remembered approval', () => {
  it('holds in its conversation, for its tool, rule, user and tenant, and for nothing else', async () => {
    const backend = createMemoryBackend(ROOMY);
    const sent: unknown[] = [];
    const pod = podWith(backend, cancelTool(sent));
    const { engine } = pod;
    const owner = talk();
    const first = await pod.turns.begin(saying(owner, 'B-1'));
    const [row] = await untilPending(engine, owner);
    await decideAs(engine, owner, row?.id ?? '', { decision: 'approve', remember: true });
    await untilEnded(backend, first);
    const again = await pod.turns.begin(saying(owner, 'B-2'));
    await untilEnded(backend, again);
    expect(sent).toHaveLength(2);
    expect((await backend.runs.read(again)).run?.calls[0]?.approval).toEqual({
      id: row?.id,
      outcome: 'remembered',
    });

    const otherRule = { ...ALWAYS, rule: 'another' };
    const foreign: readonly [what: string, conversation: ConversationRef, tool: Tool][] = [
      ['another conversation', { ...owner, conversationId: 'other' }, cancelTool(sent)],
      ['another user', { ...owner, userId: 'grace@example.com' }, cancelTool(sent)],
      ['another tenant', { ...talk(), userId: owner.userId }, cancelTool(sent)],
      ['another rule', owner, cancelTool(sent, otherRule)],
      ['the tool of another server', owner, cancelTool(sent, ALWAYS, 'elsewhere')],
      ['another tool of the server', owner, cancelTool(sent, ALWAYS, 'bookings', 'refund')],
    ];
    for (const [what, conversation, tool] of foreign) {
      const other = podWith(backend, tool);
      const run = await other.turns.begin(saying(conversation, 'B-3'));
      const [asked] = await untilPending(engine, conversation);
      expect(sent, what).toHaveLength(2);
      await decideAs(engine, conversation, asked?.id ?? '', { decision: 'deny' });
      await untilEnded(backend, run);
    }
    expect(sent).toHaveLength(2);

    const [grant, ...more] = await engine.approvals.grants.list(owner);
    expect(more).toEqual([]);
    expect(grant).toMatchObject({ tool: 'cancel', server: 'bookings', conversationId: 'talk' });
    await engine.approvals.grants.revoke(owner, grant?.grantId ?? '');
    const asked = await pod.turns.begin(saying(owner, 'B-4'));
    const [open] = await untilPending(engine, owner);
    expect(sent).toHaveLength(2);
    await decideAs(engine, owner, open?.id ?? '', { decision: 'deny' });
    await untilEnded(backend, asked);
  });
});

describe('a policy', () => {
  it('that is not well formed stops the start, and the fault names its place in the file', () => {
    const config = (approval: string) => `models:
  m: { provider: openai-compatible, baseUrl: "http://127.0.0.1:1", model: m }
agents:
  helper: { title: Helper, model: m, instructions: Help., tools: [{ server: bank }] }
mcpServers:
  bank:
    title: Bank
    transport: http
    url: "http://127.0.0.1:1/mcp"
    credentialScope: none
    toolApprovals:
      pay: ${approval}
`;
    const faultsOf = (approval: string) => {
      try {
        readAgentsConfig(config(approval), 'agents.yaml', {});
        return [];
      } catch (error) {
        return (error as AgentsConfigError).faults;
      }
    };
    expect(faultsOf('{ ask: when, rule: "args.amount > 100" }')).toEqual([]);
    for (const [rule, reason] of [
      ['args.amount >', /Unexpected token/],
      ['amount > 100', /Unknown variable: amount/],
      ['1 + 1', /has the type int/],
    ] as const)
      expect(faultsOf(`{ ask: when, rule: "${rule}" }`)).toMatchObject([
        { line: 12, path: 'mcpServers.bank.toolApprovals.pay.rule', message: expect.stringMatching(reason) },
      ]);
    expect(faultsOf('{ ask: when }')).toMatchObject([
      { line: 12, path: 'mcpServers.bank.toolApprovals.pay.ask', message: expect.stringContaining('rule') },
    ]);
    expect(faultsOf('{ ask: always, remember: 400 days }')).toMatchObject([
      { line: 12, path: 'mcpServers.bank.toolApprovals.pay.remember' },
    ]);
  });

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
