import { mintElicitationId } from '@parley/core/domain/ids';
import { mcpSecretsOf } from '@parley/shared/config/mcp-env';
import type { RunRef } from '@parley/shared/domain/runs/run';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCalls, type StartedCall } from '../../../services/api/src/surfaces/mcp/calls.ts';
import type { McpDeps } from '../../../services/api/src/surfaces/mcp/deps.ts';
import { createSessions } from '../../../services/api/src/surfaces/mcp/legacy/sessions.ts';
import { createCallState } from '../../../services/api/src/surfaces/mcp/modern/state.ts';
import { createCallOutput } from '../../../services/api/src/surfaces/mcp/outcome.ts';
import { recordAnswer } from '../../../services/api/src/surfaces/mcp/questions.ts';
import type { WholeResult } from '../../../services/api/src/turns/call-result.ts';
import type { FollowedEvent } from '../../../services/api/src/turns/follow.ts';
import { stateKeysOf } from '../../../services/api/src/wiring/mcp.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { turnOf } from '../../harness/engines/turn-writes.ts';

const OWNER = { tenant: 'acme', userId: 'ada' };
const CONTEXT = {} as never;
const CALL = {
  caller: { kind: 'user', ...OWNER },
  name: 'tool',
  arguments: {},
  support: { form: true, url: true },
  delivery: 'detach',
  signal: new AbortController().signal,
} as const;
const HOUR_MS = 3_600_000;

const stateAt = (now: number, ...PARLEY_VAULT_KEYS: string[]) =>
  createCallState({
    keys: stateKeysOf({ PARLEY_VAULT_KEYS } as never),
    owner: OWNER,
    digest: 'digest',
    now: async () => now,
  });
const stateOf = (...keys: string[]) => stateAt(Date.now(), ...keys);

describe('the state of an MCP call', () => {
  it('is read by each of the vault keys while those change, and by no other key', async () => {
    const minted = await stateOf('old').mint({ call: 'sr_1 call', at: 1 }, [], CONTEXT);
    expect(await stateOf('old', 'new').verify(minted, CONTEXT)).toMatchObject({ call: 'sr_1 call' });
    expect(await stateOf('new', 'old').verify(minted, CONTEXT)).toMatchObject({ call: 'sr_1 call' });
    await expect(stateOf('new').verify(minted, CONTEXT)).rejects.toThrow();
  });

  it('ends with its questions by the clock of those, whatever the clock of the pod says', async () => {
    const asked = Date.now() + 24 * HOUR_MS;
    const minted = await stateAt(asked, 'key').mint(
      { call: 'sr_1 call', at: 1 },
      [asked + 2 * HOUR_MS],
      CONTEXT,
    );
    expect(await stateAt(asked + 2 * HOUR_MS, 'key').verify(minted, CONTEXT)).toMatchObject({ at: 1 });
    await expect(stateAt(asked + 3 * HOUR_MS, 'key').verify(minted, CONTEXT)).rejects.toThrow();
    const without = await stateAt(asked, 'key').mint({ call: 'sr_1 call', at: 1 }, [], CONTEXT);
    expect(await stateAt(asked, 'key').verify(without, CONTEXT)).toMatchObject({ at: 1 });
    await expect(stateAt(asked + HOUR_MS, 'key').verify(without, CONTEXT)).rejects.toThrow();
  });

  it('is signed with the secret of its own before any other', () => {
    const env = { PARLEY_VAULT_KEYS: ['one', 'two'], PARLEY_JWT_SECRET: 'jwt', PARLEY_MCP_SECRET: 'mcp' };
    expect(mcpSecretsOf(env as never)).toEqual(['mcp']);
    expect(mcpSecretsOf({ ...env, PARLEY_MCP_SECRET: undefined } as never)).toEqual(['jwt']);
  });
});

it.each([
  [{ name: 'Ada', mail: '' }, { name: 'Ada' }],
  [
    { name: '', mail: 'a@b.example' },
    { name: '', mail: 'a@b.example' },
  ],
  [{ name: '', mail: '', other: '' }, { name: '' }],
])('an answer over MCP is recorded without blank texts that are optional: %j', async (content, recorded) => {
  const sent: unknown[] = [];
  const fields = { name: { type: 'string' }, mail: { type: 'string', format: 'email' } };
  const requestedSchema = { type: 'object', properties: fields, required: ['name'] };
  const engine = {
    read: async () => ({ row: { definition: { mode: 'form', requestedSchema } } }),
    answer: async ({ response }: { readonly response: unknown }) => void sent.push(response),
  };
  await recordAnswer(engine as never, {
    caller: { kind: 'user', ...OWNER },
    id: mintElicitationId(OWNER),
    result: { action: 'accept', content },
    admitted: Promise.resolve(),
  });
  expect(sent).toEqual([{ action: 'accept', content: recorded }]);
});

it('a call of a session that ends while the call begins is stopped', async () => {
  const backend = createMemoryBackend(ROOMY);
  onTestFinished(() => backend.close());
  const { mcp: records } = backend.ownerRecords;
  const sessions = createSessions(records, HOUR_MS);
  const sessionId = await sessions.begin(OWNER, { form: true, url: true });
  const stopped: unknown[] = [];
  const turns = {
    findOffered: async () => ({ type: 'tool' }),
    // Another pod ends the session, while no request follows the call yet.
    async beginCall() {
      await sessions.end(OWNER, sessionId);
      await calls.stopAll(OWNER, sessionId);
      return { isRepeat: false };
    },
    stop: async (run: RunRef) => void stopped.push(run.streamRequestId),
  };
  const calls = createCalls({ records, turns, callMs: HOUR_MS } as unknown as McpDeps);
  const isOpen = async () => (await sessions.find(OWNER, sessionId)) !== undefined;
  const { run } = await calls.begin({ ...CALL, request: { sessionId, id: 1, isOpen } });
  expect(stopped).toEqual([run.streamRequestId]);
});

it('what Parley tells the card of a call is not taken from a server', () => {
  const output = createCallOutput('tool');
  const result = { content: [], isError: true, _meta: { 'parley/call': { tool: 'another' }, own: 1 } };
  const events = [
    { type: 'tool-returned', output: result },
    { type: 'turn-finished', reason: 'stop' },
  ];
  const ended = events.map((event) => output.take({ type: 'turn', event } as unknown as FollowedEvent));
  expect(ended.at(-1)?.result).toEqual({ ...result, _meta: { own: 1 } });
});

describe('an equal MCP call', () => {
  /** Calls whose run has ended once it is begun, or waits, by a clock that the test moves. */
  function endedCalls({ waits = false } = {}) {
    vi.useFakeTimers({ toFake: ['Date'] });
    const backend = createMemoryBackend({ ...ROOMY, retentionMs: HOUR_MS });
    onTestFinished(() => {
      vi.useRealTimers();
      return backend.close();
    });
    const stopped: unknown[] = [];
    const turns = {
      stop: async (run: RunRef) => void stopped.push(run.streamRequestId),
      findOffered: async () => ({ type: 'tool' }),
      async beginCall({ conversation }: { readonly conversation: RunRef }) {
        const begun = await backend.runs.begin({ ...turnOf(OWNER), ...conversation });
        if (begun.type !== 'begun') return { isRepeat: true };
        if (waits) return { isRepeat: false };
        const events = [{ type: 'turn-finished', reason: 'stop' }] as const;
        const end = { status: 'finished', messages: [] } as const;
        await backend.runs.write(conversation, { term: 1, firstSeq: 2, events, end });
        return { isRepeat: false };
      },
    };
    const deps = { records: backend.ownerRecords.mcp, turns, engine: engineOn(backend), callMs: HOUR_MS };
    return { ...createCalls(deps as unknown as McpDeps), stopped };
  }

  it.each([
    // What happens to the first call before the next one, after seconds, and whether that joins it.
    ['joins one that ended nine minutes ago', [], 540, true],
    ['is another one eleven minutes after the end', [], 660, false],
    ['joins one whose client was told a page, for the retention after its end', ['told'], 3_590, true],
    ['is another one later than that', ['told'], 3_610, false],
    ['is another one when nothing of a task is stored any more', ['task'], 3_610, false],
    ['is another one once the result was fetched', ['fetched'], 0, false],
    [
      'joins one whose client was told a page, seconds after the result was fetched',
      ['told', 'fetched'],
      9,
      true,
    ],
    ['is another one soon after that', ['told', 'fetched'], 10, false],
    ['joins one of which another client was told before', ['joined', 'told', 'fetched'], 9, true],
    [
      'joins one that the first request fetched, when another was told',
      ['told', 'fetched by the first'],
      9,
      true,
    ],
    ['is another one then, however often it was fetched', ['told', 'fetched', 9, 'fetched'], 1, false],
    ['joins a task whose result was not fetched', ['task'], 540, true],
    ['is another one eleven minutes after the end of a task', ['task'], 660, false],
    ['is another one once the result of the task was fetched', ['task', 'task fetched'], 0, false],
    [
      'joins a task of which another client was told, for as long as others',
      ['told', 'task', 'task fetched'],
      9,
      true,
    ],
  ] as const)('%s', async (_what, before, seconds, joins) => {
    const calls = endedCalls();
    const wait = (some: number) => vi.setSystemTime(Date.now() + some * 1_000);
    const first = await calls.begin(CALL);
    let joined: StartedCall | undefined;
    const steps = {
      told: () => calls.told(first, 1),
      task: () => calls.handOver(first),
      'task fetched': () => calls.releaseTask(first.run),
      'fetched by the first': () => calls.release(first),
      async joined() {
        joined = await calls.begin(CALL);
      },
      fetched: async () => calls.release(joined ?? (await calls.begin(CALL))),
    };
    for (const one of before) await (typeof one === 'number' ? wait(one) : steps[one]());
    wait(seconds);
    expect((await calls.begin(CALL)).run.streamRequestId === first.run.streamRequestId).toBe(joins);
  });

  it.each([
    [600, undefined],
    [601, 'says when that was'],
  ])('that joins one that ended %d s ago: %s', async (seconds, says) => {
    const calls = endedCalls();
    await calls.told(await calls.begin(CALL), 1);
    const ended = Date.now();
    vi.setSystemTime(ended + seconds * 1_000);
    const { endedAt } = await calls.begin(CALL);
    expect(endedAt).toBe(says && ended);
    const output = createCallOutput('tool', endedAt);
    const end = { type: 'turn', event: { type: 'turn-failed', code: 'call_failed', message: 'No.' } };
    const { content = [] } = (output.take(end as FollowedEvent)?.result ?? {}) as Partial<WholeResult>;
    expect(content).toHaveLength(says === undefined ? 1 : 2);
    if (says !== undefined) expect(JSON.stringify(content)).toContain(new Date(ended).toISOString());
  });

  it('that joined a task leaves it to its client, and so does the end of its session', async () => {
    const calls = endedCalls();
    await calls.handOver(await calls.begin(CALL));
    await calls.leave(await calls.begin(CALL));
    await calls.begin({ ...CALL, request: { sessionId: 'one', id: 1, isOpen: async () => true } });
    await calls.stopAll(OWNER, 'one');
    expect(calls.stopped).toEqual([]);
  });

  it('knows on every pod up to which question a client was told, whichever was told last', async () => {
    const calls = endedCalls();
    const first = await calls.begin(CALL);
    expect(await calls.toldUpTo(first)).toBeUndefined();
    for (const upTo of [2, 10, 9]) await calls.told(first, upTo);
    expect(await calls.toldUpTo(await calls.begin(CALL))).toBe(10);
  });

  it.each([
    ['a task', 'handOver'],
    ['a call that told a page', 'told'],
  ] as const)('joins %s and waits for its person, for as long as the person can act', async (_what, left) => {
    const calls = endedCalls({ waits: true });
    const { run, ...first } = await calls.begin(CALL);
    await calls[left]({ run, ...first }, 1);
    vi.setSystemTime(Date.now() + 7 * 24 * HOUR_MS);
    expect(await calls.begin(CALL)).toMatchObject({ run });
    // Its client goes on to have it.
    await calls.leave(await calls.begin(CALL));
    expect(await calls.begin(CALL)).toMatchObject({ run });
  });
});
