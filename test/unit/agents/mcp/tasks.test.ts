import { describe, expect, it } from 'vitest';
import { createTaskNotices } from '../../../../services/api/src/agents/mcp/tasks/notices.ts';
import { pollPause, restPause } from '../../../../services/api/src/agents/mcp/tasks/pace.ts';
import { readCreatedTask, readTask } from '../../../../services/api/src/agents/mcp/tasks/task.ts';
import { changeOf } from '../../../../services/api/src/agents/tools/passthrough/server-task.ts';

const created = (more: object = {}) => ({ resultType: 'task', taskId: 't', status: 'working', ...more });
const request = { method: 'elicitation/create', params: {} };

describe('the reply that a task was made', () => {
  it.each([
    ['without a pause', {}, { isWorking: true }],
    ['with one', { pollIntervalMs: 5_000 }, { pollMs: 5_000 }],
    ['with one that means nothing', { pollIntervalMs: 'soon' }, { pollMs: undefined }],
    ['with one from the past', { pollIntervalMs: -1 }, { pollMs: undefined }],
    ['of something that has gone on', { status: 'completed' }, { isWorking: false }],
  ])('is read %s', (_, more, expected) => {
    expect(readCreatedTask(created(more))).toMatchObject({ type: 'task', taskId: 't', ...expected });
  });

  it.each([
    ['an id of a megabyte', { taskId: 'x'.repeat(1_000_000) }],
    ['an empty id', { taskId: '' }],
    ['a number for an id', { taskId: 1 }],
    ['no status', { status: undefined }],
  ])('is refused with %s', (_, more) => {
    expect(readCreatedTask(created(more))).toMatchObject({ type: 'refused' });
  });
});

describe('the state of a task', () => {
  it.each<[string, object, object]>([
    ['working', { status: 'working', inputRequests: { a: request } }, { type: 'open', requests: {} }],
    ['asking', { status: 'input_required', inputRequests: { a: request } }, { requests: { a: request } }],
    ['asking nothing', { status: 'input_required' }, { type: 'open', requests: {} }],
    [
      'completed',
      { status: 'completed', result: { content: [], isError: true } },
      { result: { isError: true } },
    ],
    [
      'completed, with data alone',
      { status: 'completed', result: { structuredContent: 1 } },
      { type: 'completed' },
    ],
    ['failed', { status: 'failed', error: { code: -32001, message: 'no' } }, { refusal: { code: -32001 } }],
    [
      'cancelled',
      { status: 'cancelled', statusMessage: 'Too late.' },
      { message: expect.stringMatching('Too late.') },
    ],
  ])('is read: %s', (_, reply, expected) => {
    expect(readTask(reply)).toMatchObject(expected);
  });

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'unreadable'],
    ['a list', [], 'unreadable'],
    ['a status that there is not', { status: 'done' }, 'unreadable'],
    ['requests in a list', { status: 'input_required', inputRequests: [request] }, 'unreadable'],
    [
      '1,000 requests',
      { status: 'input_required', inputRequests: { ...Array(1_000).fill(request) } },
      'unreadable',
    ],
    [
      'a key of a megabyte',
      { status: 'input_required', inputRequests: { ['x'.repeat(1e6)]: request } },
      'unreadable',
    ],
    ['no result', { status: 'completed' }, 'refused'],
    ['another task for a result', { status: 'completed', result: created() }, 'refused'],
    ['questions for a result', { status: 'completed', result: { resultType: 'input_required' } }, 'refused'],
    ['a text for a result', { status: 'completed', result: 'done' }, 'refused'],
    ['a failure without an error', { status: 'failed', error: 'no' }, 'refused'],
  ])('may be %s', (_, reply, type) => {
    expect(readTask(reply)).toMatchObject({ type });
  });
});

describe('the pause before a task is read', () => {
  it.each<[pollMs: number | undefined, failures: number, ms: number, toldMs?: number]>([
    [undefined, 0, 1_000],
    [5_000, 0, 5_000],
    [0, 0, 250],
    [1e12, 0, 60_000],
    [0, 3, 2_000],
    [0, 50, 30_000],
    [45_000, 50, 45_000],
    [undefined, 0, 8_000, 8_000],
    [undefined, 0, 30_000, 300_000],
    [45_000, 0, 45_000, 300_000],
  ])('follows %s ms after %s failures: %s ms, told for %s ms', (pollMs, failures, ms, toldMs) => {
    expect(pollPause({ pollMs, failures, toldMs }, 0)).toBe(ms);
    expect(pollPause({ pollMs, failures, toldMs }, 1)).toBeCloseTo(ms * 1.25, -1);
  });

  it.each([
    [undefined, 0, false, 1_000],
    [undefined, 3, false, 8_000],
    [undefined, 50, false, 60_000],
    [undefined, 50, true, 600_000],
    [30_000, 0, false, 30_000],
  ])('of a turn that rests follows %s ms after %s rests', (pollMs, rests, isAsking, ms) => {
    expect(restPause({ pollMs, rests, isAsking }, 0)).toBe(ms);
  });

  it.each([
    ['a week of work', 7, false],
    ['a month with a question', 30, true],
  ])('lets a turn rest some hundred times in %s, not thousands', (_, days, isAsking) => {
    let rests = 0;
    for (let passedMs = 0; passedMs < days * 86_400_000; rests += 1)
      passedMs += restPause({ rests, isAsking }, 0);
    expect(rests).toBeLessThan(1_200);
  });
});

describe('what a connection hears of tasks', () => {
  const acknowledged = (notifications: unknown) => ({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications },
  });
  const told = (params?: object) => ({ method: 'notifications/tasks', ...(params && { params }) });
  it.each<[string, object, readonly string[]]>([
    ['an agreement', acknowledged({ taskIds: ['other', 'one'] }), ['agreed']],
    ['one about others', acknowledged({ taskIds: ['other'] }), []],
    ['one about nothing', acknowledged({}), []],
    ['one that is malformed', acknowledged({ taskIds: 'one' }), []],
    ['one without a filter', acknowledged(null), []],
    ['a change', told({ taskId: 'one', status: 'working' }), ['changed']],
    ['a change of another', told({ taskId: 'other' }), []],
    ['a change that was too large to be read', told({}), ['changed']],
    ['a change of nothing', told(), ['changed']],
    ['a request of that name', { ...told({ taskId: 'one' }), id: 1 }, []],
    ['a result', { id: 1, result: { taskId: 'one' } }, []],
  ])('of %s', (_, message, expected) => {
    const notices = createTaskNotices();
    const heard: string[] = [];
    const listener = { agreed: () => heard.push('agreed'), changed: () => heard.push('changed') };
    const end = notices.follow('one', listener);
    const hear = () => notices.hear({ jsonrpc: '2.0', ...message } as never);
    hear();
    end();
    hear();
    expect(heard).toEqual(expected);
  });
});

describe('the requests of a task', () => {
  const a = { key: 'a', ordinal: 0, request };
  const known = { open: [a], done: ['z'], asked: 1 };
  it.each<[string, object, string[], object]>([
    ['the same again', { a: request }, [], { added: [], gone: [], missing: [] }],
    ['another', { a: request, b: request }, [], { added: [{ key: 'b', ordinal: 1, request }] }],
    ['one that was answered', { a: request, z: request }, [], { added: [], open: [a] }],
    ['one that is missing', {}, [], { missing: ['a'], gone: [], open: [a] }],
    ['one that is missing again', {}, ['a'], { gone: ['a'], open: [], done: ['z', 'a'] }],
    ['one that is back', { a: request }, ['a'], { gone: [], missing: [], open: [a] }],
    ['another under a known key', { a: { ...request, params: 1 } }, [], { open: [a], added: [] }],
  ])('are asked once: %s', (_, requests, missed, expected) => {
    expect(changeOf(known, { ...requests }, missed)).toMatchObject(expected);
  });
});
