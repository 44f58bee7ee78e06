/** Workflows: what they catch, what is replayed, and the keys of their effects. */
import { createElicitor } from '@parley/sdk/elicit';
import {
  createMemoryRecord,
  createParleyRecord,
  NotAnsweredError,
  runWorkflow,
  StepFailedError,
  WorkflowChangedError,
  type WorkflowRequest,
} from '@parley/sdk/workflow';
import { expect, it } from 'vitest';

const declining = createElicitor({
  handlers: [{ name: 'no', canHandle: () => true, handle: async () => ({ action: 'decline' }) }],
});
const question = { kind: 'confirmation', message: 'm' } as const;

it('a workflow may catch a refusal, or ask for the outcome', async () => {
  const result = runWorkflow(
    function* (): Generator<WorkflowRequest, unknown, unknown> {
      const outcome = yield { ask: question, outcome: true };
      try {
        yield { ask: question };
      } catch (error) {
        return [outcome, error];
      }
      return undefined;
    },
    { elicitor: declining },
  );
  expect(await result).toEqual([{ status: 'declined', handler: 'no' }, expect.any(NotAnsweredError)]);
});

it.each(['an ask that fails', 'a signal'])('a workflow that %s ends early runs its finally', async (what) => {
  const stopping = new AbortController();
  const fault = new Error('nobody is there');
  const failing = createElicitor({
    handlers: [
      {
        name: 'gone',
        canHandle: () => true,
        async handle() {
          if (what === 'a signal') stopping.abort(fault);
          throw fault;
        },
      },
    ],
  });
  const left: string[] = [];
  async function* program(): AsyncGenerator<WorkflowRequest, void, unknown> {
    try {
      yield { ask: question };
    } finally {
      left.push('left');
    }
  }
  const running = runWorkflow(program, { elicitor: failing, signal: stopping.signal });
  await expect(running).rejects.toThrow(what === 'a signal' ? 'nobody is there' : 'No handler could ask');
  expect(left).toEqual(['left']);
});

it('an asynchronous workflow is replayed with its results, a failed step included', async () => {
  const record = createMemoryRecord('w');
  let runs = 0;
  async function* program(): AsyncGenerator<WorkflowRequest, unknown, unknown> {
    const first = yield { step: 'first', run: async () => ++runs };
    try {
      yield {
        step: 'second',
        run: () => {
          runs += 1;
          throw new Error('no money');
        },
      };
    } catch (error) {
      return [first, error instanceof StepFailedError && error.message];
    }
    return undefined;
  }
  const expected = [1, 'The step second failed: no money'];
  expect(await runWorkflow(program, { elicitor: declining, record })).toEqual(expected);
  expect(await runWorkflow(program, { elicitor: declining, record })).toEqual(expected);
  expect(runs).toBe(2);
});

const asks = (message: string): WorkflowRequest => ({
  ask: { kind: 'confirmation', message },
  outcome: true,
});
const runs = (step: string): WorkflowRequest => ({ step, run: () => step });

it.each<readonly [string, readonly WorkflowRequest[], number, string]>([
  ['asks something else', [asks('b'), runs('pay'), asks('c')], 0, 'it asked another question'],
  ['runs another step', [asks('a'), runs('refund'), asks('c')], 1, 'it ran the step pay'],
  ['asks instead of running a step', [asks('a'), asks('c')], 1, 'it ran the step pay'],
  ['runs a step instead of asking', [asks('a'), runs('pay'), runs('mail')], 2, 'it asked another question'],
  ['swaps two positions', [runs('pay'), asks('a'), asks('c')], 0, 'it asked another question'],
  ['ends earlier', [asks('a'), runs('pay')], 2, 'it asked another question'],
])('a changed program that %s is noticed at its position', async (_name, requests, position, before) => {
  const record = createMemoryRecord('w');
  const program = function* (all: readonly WorkflowRequest[]): Generator<WorkflowRequest, void, unknown> {
    for (const request of all) yield request;
  };
  await runWorkflow(() => program([asks('a'), runs('pay'), asks('c')]), { elicitor: declining, record });
  const changed = runWorkflow(() => program(requests), { elicitor: declining, record });
  await expect(changed).rejects.toBeInstanceOf(WorkflowChangedError);
  await expect(changed).rejects.toMatchObject({
    code: 'workflow_changed',
    position,
    message: `The program of the workflow w has changed: at position ${position} ${before}.`,
  });
});

/** The entries of Parley for everybody, with its limit. */
function entriesOfParley(): typeof fetch {
  const entries = new Map<string, string>();
  const reply = (status: number, body: unknown) => Response.json(body, { status });
  return async (input, init) => {
    const url = new URL(String(input instanceof Request ? input.url : input));
    const { userId = url.searchParams.get('userId'), ...entry } = JSON.parse(String(init?.body ?? '{}'));
    const name = `${userId} ${url.pathname}`;
    const text = JSON.stringify(entry);
    if (text.length > 65_536) return reply(413, { status: 413, code: 'too_large', detail: 'Too large.' });
    if (init?.method === 'POST' && !entries.has(name)) entries.set(name, text);
    const stored = entries.get(name);
    if (stored === undefined) return reply(404, { status: 404, code: 'not_found', detail: 'Nothing.' });
    return reply(200, JSON.parse(stored));
  };
}

const atParley = (userId: string, fetch: typeof globalThis.fetch) =>
  createParleyRecord({ baseUrl: 'http://parley.test', token: 'key', workflowId: 'w', userId, fetch });

it('effects for two users have different keys, and the same key after a restart', async () => {
  const keysOf = async (userId: string) => {
    const keys: string[] = [];
    const program = function* (): Generator<WorkflowRequest, void, unknown> {
      yield { step: 'pay', run: ({ key }) => keys.push(key) };
    };
    // Two processes that both get to the effect, because neither finds the entry of the other.
    for (const _ of [1, 2])
      await runWorkflow(program, { elicitor: declining, record: atParley(userId, entriesOfParley()) });
    return keys;
  };
  const [ada, again] = await keysOf('ada');
  const [bob] = await keysOf('bob');
  expect(ada).toMatch(/^wf\.w\.[\da-f]{32}\.0$/);
  expect(again).toBe(ada);
  expect(bob).not.toBe(ada);
});

it('an effect whose result is too large happens once, and its step has failed', async () => {
  const fetch = entriesOfParley();
  let runs = 0;
  const program = function* (): Generator<WorkflowRequest, unknown, unknown> {
    try {
      yield {
        step: 'export',
        run: () => {
          runs += 1;
          return 'x'.repeat(70_000);
        },
      };
    } catch (error) {
      return error instanceof StepFailedError && error.message;
    }
    return undefined;
  };
  for (const _ of [1, 2]) {
    const result = runWorkflow(program, { elicitor: declining, record: atParley('ada', fetch) });
    expect(await result).toBe('The step export failed: too_large');
  }
  expect(runs).toBe(1);
});
