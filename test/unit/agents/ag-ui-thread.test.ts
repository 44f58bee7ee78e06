import { describe, expect, it } from 'vitest';
import { MalformedRun, readAgUiEvent } from '../../../services/api/src/agents/ag-ui/events.ts';
import { applyPatch, PatchError } from '../../../services/api/src/agents/ag-ui/json-patch.ts';
import { createRunFold, textOfThread } from '../../../services/api/src/agents/ag-ui/thread.ts';
import { RemoteFault } from '../../../services/api/src/agents/remote/faults.ts';

const patched = (value: unknown, ...operations: object[]) =>
  applyPatch(structuredClone(value), operations as never, () => undefined);

describe('a patch of the state', () => {
  it.each([
    [{}, [{ op: 'add', path: '/a', value: 1 }], { a: 1 }],
    [[1, 3], [{ op: 'add', path: '/1', value: 2 }], [1, 2, 3]],
    [[1], [{ op: 'add', path: '/-', value: 2 }], [1, 2]],
    [{ a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: 2 }], { a: { b: 2 } }],
    [{ 'a/b': 1, 'c~': 2 }, [{ op: 'remove', path: '/a~1b' }], { 'c~': 2 }],
    [[1, 2], [{ op: 'remove', path: '/0' }], [2]],
    [{ a: 1 }, [{ op: 'move', from: '/a', path: '/b' }], { b: 1 }],
    [{ a: [1] }, [{ op: 'copy', from: '/a', path: '/b' }], { a: [1], b: [1] }],
    [{ a: [1] }, [{ op: 'test', path: '/a', value: [1] }], { a: [1] }],
    [{ a: 1 }, [{ op: 'replace', path: '', value: 'whole' }], 'whole'],
  ])('changes %o by %o', (before, operations, after) => {
    expect(patched(before, ...operations)).toEqual(after);
  });

  it.each([
    [{}, { op: 'remove', path: '/a' }],
    [{}, { op: 'replace', path: '/a', value: 1 }],
    [[], { op: 'add', path: '/2', value: 1 }],
    [[], { op: 'add', path: '/x', value: 1 }],
    [{}, { op: 'add', path: '/__proto__/polluted', value: 1 }],
    [{}, { op: 'add', path: '/constructor', value: 1 }],
    [{ a: {} }, { op: 'move', from: '/a', path: '/a/b' }],
    [{ a: 1 }, { op: 'test', path: '/a', value: 2 }],
    [{ a: 1 }, { op: 'add', path: 'a', value: 2 }],
  ])('of %o is refused where it is %o', (before, operation) => {
    expect(() => patched(before, operation)).toThrow(PatchError);
  });
});

const EMPTY = { messages: [{ id: 'task', role: 'user', content: 'Go.' }], state: {} };

/** The thread after these events, and the calls that were seen. */
function folded(...events: object[]) {
  const fold = createRunFold(EMPTY, 10_000);
  for (const event of events) {
    const read = readAgUiEvent(event);
    if (read !== undefined) fold.take(read);
  }
  return { calls: fold.calls(), ...fold.thread };
}

describe('a thread', () => {
  it('joins chunks, and ends a call with what follows it', () => {
    const { messages, calls } = folded(
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', role: 'assistant', delta: 'Wait' },
      { type: 'TEXT_MESSAGE_CHUNK', delta: ' here.' },
      {
        type: 'TOOL_CALL_CHUNK',
        toolCallId: 'a',
        toolCallName: 'look',
        parentMessageId: 'm',
        delta: '{"at":',
      },
      { type: 'TOOL_CALL_CHUNK', delta: '1}' },
      { type: 'TOOL_CALL_CHUNK', toolCallId: 'b', toolCallName: 'wait', delta: '{}' },
      { type: 'TOOL_CALL_RESULT', messageId: 'r', toolCallId: 'b', content: 'done' },
    );
    expect(textOfThread({ messages })).toBe('Wait here.');
    expect(calls).toEqual([
      { type: 'called', id: 'a', name: 'look', arguments: '{"at":1}' },
      { type: 'called', id: 'b', name: 'wait', arguments: '{}' },
      { type: 'returned', id: 'b', content: 'done' },
    ]);
    expect(messages.map(({ id, role, toolCalls = [] }) => [id, role, toolCalls.length])).toEqual([
      ['task', 'user', 0],
      ['m', 'assistant', 1],
      ['b', 'assistant', 1],
      ['r', 'tool', 0],
    ]);
  });

  it('is replaced by a snapshot, and continues from it', () => {
    const { messages } = folded(
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Void.' },
      {
        type: 'MESSAGES_SNAPSHOT',
        messages: [...EMPTY.messages, { id: 'n', role: 'assistant', content: 'Now' }],
      },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'n', delta: ' this.' },
    );
    expect(textOfThread({ messages })).toBe('Now this.');
  });

  it.each([
    ['text', Array(14).fill({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x'.repeat(1_000) })],
    [
      'arguments',
      [{ type: 'TOOL_CALL_CHUNK', toolCallId: 'a', toolCallName: 'a', delta: 'x'.repeat(13_000) }],
    ],
    ['state', [{ type: 'STATE_SNAPSHOT', snapshot: 'x'.repeat(13_000) }]],
    ['end', [{ type: 'STATE_SNAPSHOT', snapshot: 'x'.repeat(11_000) }, { type: 'RUN_FINISHED' }]],
    ['result', [{ type: 'RUN_FINISHED', result: 'x'.repeat(11_000) }]],
    ['error', [{ type: 'RUN_ERROR', message: 'x'.repeat(11_000) }]],
    [
      'copies',
      [
        { type: 'STATE_SNAPSHOT', snapshot: { a: 'x'.repeat(100) } },
        {
          type: 'STATE_DELTA',
          delta: Array.from({ length: 60 }, (_, at) => ({ op: 'copy', from: '', path: `/b${at}` })),
        },
      ],
    ],
    [
      'copies of one value',
      [
        { type: 'STATE_SNAPSHOT', snapshot: { a: 'x'.repeat(1_000) } },
        { type: 'STATE_DELTA', delta: Array(60).fill({ op: 'copy', from: '/a', path: '/b' }) },
      ],
    ],
  ])('is no larger than it may be, by its %s', (_what, events) => {
    expect(() => folded(...events)).toThrow(RemoteFault);
  });

  it.each([
    ['chunks of no message', { type: 'TEXT_MESSAGE_CHUNK', delta: 'Hi' }],
    ['chunks of no call', { type: 'TOOL_CALL_CHUNK', toolCallName: 'look', delta: '{}' }],
    [
      'two interrupts of one id',
      { type: 'RUN_FINISHED', outcome: { type: 'interrupt', interrupts: [{ id: 'a' }, { id: 'a' }] } },
    ],
    [
      'a state that each patch nests more deeply',
      { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/a', value: {} }] },
      ...Array.from({ length: 7 }, (_, at) => {
        const depth = 2 ** at;
        return {
          type: 'STATE_DELTA',
          delta: [{ op: 'copy', from: '/a', path: '/a'.repeat(depth + 1) }],
        };
      }),
    ],
  ] as [string, ...object[]][])('cannot be read with %s', (_what, ...events) => {
    expect(() => folded(...events)).toThrow(MalformedRun);
  });

  it('shows a call that came with a snapshot before a person is asked about it', () => {
    const toolCalls = [{ id: 'c', type: 'function', function: { name: 'pay', arguments: '{}' } }];
    const { calls } = folded(
      { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'n', role: 'assistant', toolCalls }] },
      { type: 'RUN_FINISHED', outcome: { type: 'interrupt', interrupts: [{ id: 'a', toolCallId: 'c' }] } },
    );
    expect(calls).toEqual([{ type: 'called', id: 'c', name: 'pay', arguments: '{}' }]);
  });

  it('that only replaces what it has does not grow', () => {
    const snapshot = { type: 'STATE_SNAPSHOT', snapshot: 'x'.repeat(9_000) };
    expect(folded(...Array(20).fill(snapshot)).state).toBe(snapshot.snapshot);
  });
});
