import type { Arguments } from '@parley/core/domain/approvals/approval';
import type { ApprovalDefinition } from '@parley/core/domain/approvals/definition';
import { APPROVAL_STATUSES, type ApprovalStatus } from '@parley/core/domain/approvals/status';
import { faultsOfArguments } from '@parley/shared/domain/approvals/check-arguments';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormState } from '../../../services/api/src/surfaces/slack/mapping/answer.ts';
import {
  approvalMessage,
  denyModal,
  editModal,
} from '../../../services/api/src/surfaces/slack/mapping/approval.ts';
import { argumentsText } from '../../../services/api/src/surfaces/slack/mapping/arguments.ts';
import { editableArguments, editOf } from '../../../services/api/src/surfaces/slack/mapping/edit.ts';
import { stepCallsMessage, stepMessage } from '../../../services/api/src/surfaces/slack/mapping/step.ts';
import { faultOfMessage, faultOfView } from '../../harness/slack/blocks.ts';
import { ASKED_AT, approvalRow } from '../../harness/slack/rows.ts';

const PRIVATE = { user: 'U1', isPrivate: true };
const CHANNEL = { user: 'U1', isPrivate: false };
const TYPED = {
  type: 'object',
  properties: {
    amount: { type: 'number', maximum: 100 },
    pieces: { type: 'integer' },
    kind: { type: 'string', enum: ['gift', 'order'] },
    at: { type: 'string', format: 'date-time' },
    note: { type: 'string', title: 'Note', description: 'For the receiver.' },
    fast: { type: 'boolean' },
    lines: { type: 'array', items: { type: 'object' } },
    apiKey: { type: 'string' },
    pin: { type: 'string', format: 'password' },
  },
  required: ['amount'],
};
const GIVEN: Arguments = {
  amount: 12.5,
  kind: 'order',
  at: '2026-01-01T10:00:00+02:00',
  note: '',
  fast: false,
  lines: [{ item: 'Lamp', count: 2 }],
  apiKey: '••••••',
  extra: null,
};

function rowOf(
  more: Partial<ApprovalDefinition> = {},
  status: ApprovalStatus = 'pending',
  settled: { readonly arguments?: Arguments; readonly reason?: string } = {},
): ApprovalRow {
  const { arguments: edited = { booking: 'B-2' }, reason = 'Not <today>' } = settled;
  const settlement = {
    surface: 'chat',
    ...(status === 'denied' && { decision: 'deny' as const, reason }),
    ...(status === 'edited' && { decision: 'edit' as const, arguments: edited }),
  };
  const ended = { settledAt: ASKED_AT + 60_000, settlement };
  return approvalRow(more, { status, ...(status !== 'pending' && ended) });
}

/** What Slack reports of a modal that was submitted as it was opened, with these inputs changed. */
function stateOf(row: ApprovalRow, changes: Readonly<Record<string, object>> = {}): FormState {
  const names = editableArguments(row.definition).map(({ name }) => name);
  const inputs = (editModal(row)?.blocks ?? []).filter(({ type }) => type === 'input');
  return Object.fromEntries(
    inputs.map((block, index) => {
      const { element, block_id } = block as unknown as {
        element: Record<string, unknown>;
        block_id: string;
      };
      const state = {
        value: (element.initial_value as string | undefined) ?? null,
        selected_option: (element.initial_option as { value: string } | undefined) ?? null,
        ...changes[names[index] ?? ''],
      };
      return [block_id, { value: state }];
    }),
  );
}

const typed = (given = GIVEN) =>
  rowOf({ inputSchema: TYPED, arguments: given, masked: 'apiKey' in given ? ['/apiKey'] : [] });

const reasonOfDenial = fc.string({
  maxLength: 2_000,
  size: 'max',
  unit: fc.constantFrom('a', '&', '"', '\n', '\u{1f600}'),
});

describe('an approval in Slack', () => {
  it('keeps within the limits of Block Kit for all arguments and statuses, as a message and as modals', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ maxLength: 40 }), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 70 }),
        fc.string({ maxLength: 12_000, unit: fc.constantFrom('a', '"', '\n', '<', '\u202e') }),
        fc.constantFrom(...APPROVAL_STATUSES),
        fc.boolean(),
        reasonOfDenial,
        (given, long, status, isPrivate, reason) => {
          const args = { ...given, long } as Arguments;
          const edited = { ...args, long: long.slice(0, 7_000) };
          const row = rowOf({ arguments: args, masked: [] }, status, { arguments: edited, reason });
          expect(faultOfMessage({ ...approvalMessage(row, { user: 'U1', isPrivate }) })).toBeUndefined();
          const modal = editModal(row);
          expect(modal && faultOfView({ ...modal })).toBeUndefined();
          expect(faultOfView({ ...denyModal([row]) })).toBeUndefined();
        },
      ),
      {
        numRuns: 40,
        // The longest that Slack can be asked to show.
        examples: [
          [{}, '', 'denied', true, '&'.repeat(2_000)],
          [{}, '&'.repeat(7_900), 'denied', true, '&'.repeat(2_000)],
          [{}, '"'.repeat(3_900), 'denied', true, '\u{1f600}'.repeat(2_000)],
        ],
      },
    );
  });

  it('shows the reason of a denial in full, and its beginning where the arguments need the place', () => {
    const reason = `${'&'.repeat(1_900)} end`;
    const textOf = (args: Arguments) =>
      JSON.stringify(approvalMessage(rowOf({ arguments: args }, 'denied', { reason }), PRIVATE).blocks);
    expect(textOf({ booking: 'B-1' })).toContain(' end');
    expect(textOf({ text: 'x'.repeat(7_900) })).toMatch(/Reason: (&amp;){300}/u);
    expect(textOf({ text: 'x'.repeat(7_900) })).toMatch(/&amp;…"/u);
  });

  it('names the tool and its server in readable characters', () => {
    const hidden = 'pay\u202e\u3164';
    const row = rowOf({ tool: { server: hidden, name: hidden, title: hidden }, agent: hidden });
    for (const shown of [approvalMessage(row, PRIVATE), editModal(row), denyModal([row])]) {
      expect(JSON.stringify(shown)).toContain('pay[U+202E][U+3164]');
      expect(JSON.stringify(shown)).not.toMatch(/[\u202e\u3164]/u);
    }
  });

  it('keeps within the limits of Block Kit for all calls of a step', () => {
    const name = fc.string({ minLength: 1, maxLength: 200, unit: fc.constantFrom('a', '&', '\u202e') });
    const call = fc.record({
      name,
      text: fc.string({ maxLength: 3_000, unit: fc.constantFrom('a', '"', '\n') }),
    });
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 2, maxLength: 50, size: 'max' }),
        fc.boolean(),
        (calls, isPrivate) => {
          const rows = calls.map(({ name, text }) =>
            rowOf({ tool: { server: name, name }, arguments: { text }, masked: [] }),
          );
          for (const message of [stepMessage(rows, { user: 'U1', isPrivate }), stepCallsMessage(rows, 'U1')])
            expect(faultOfMessage({ ...message })).toBeUndefined();
          expect(faultOfView({ ...denyModal(rows) })).toBeUndefined();
        },
      ),
      { numRuns: 20 },
    );
  });

  it('approves the calls of a step together only where each is shown in full, and never with arguments in a channel', () => {
    const long = rowOf({ arguments: { text: 'x'.repeat(20_000) } });
    const half = rowOf({ arguments: { text: 'x'.repeat(7_000) } });
    const textOf = (message: object) => JSON.stringify(message);
    expect(textOf(stepMessage([rowOf(), rowOf()], PRIVATE))).toContain('parley_approve_all');
    expect(textOf(stepCallsMessage([rowOf(), rowOf()], 'U1'))).toMatch(/B-1.*B-1.*parley_approve_all/);
    expect(textOf(stepMessage([rowOf(), rowOf()], CHANNEL))).not.toMatch(/B-1|approve_all|deny_all/);
    for (const message of [
      stepMessage([rowOf(), long], PRIVATE),
      stepCallsMessage([rowOf(), long], 'U1'),
      stepCallsMessage([half, half], 'U1'),
    ]) {
      expect(textOf(message)).not.toContain('parley_approve_all');
      expect(textOf(message)).toContain('parley_deny_all');
    }
    for (const rows of [[], [rowOf()]]) expect(textOf(stepMessage(rows, PRIVATE))).not.toContain('"button"');
  });

  it('has buttons while it is pending only, whose values are its id', () => {
    for (const status of APPROVAL_STATUSES)
      for (const place of [PRIVATE, CHANNEL]) {
        const text = JSON.stringify(approvalMessage(rowOf({}, status), place).blocks);
        expect(text.includes('"button"'), status).toBe(status === 'pending');
        if (status === 'pending') expect(text).toContain('"value":"ap_00AAAAAAAAAAAAAAAAAAAAAA"');
      }
  });

  it('shows the arguments to the person asked alone, masked, and what was sent after an edit', () => {
    expect(JSON.stringify(approvalMessage(rowOf(), PRIVATE))).toContain('B-1');
    expect(JSON.stringify(approvalMessage(rowOf(), PRIVATE))).toContain('••••••');
    expect(JSON.stringify(approvalMessage(rowOf({}, 'edited'), PRIVATE))).toContain('B-2');
    for (const status of APPROVAL_STATUSES) {
      const text = JSON.stringify(approvalMessage(rowOf({}, status), CHANNEL));
      expect(text).not.toMatch(/B-[12]|today/);
    }
    expect(JSON.stringify(approvalMessage(rowOf({}, 'denied'), PRIVATE))).toContain('Not &lt;today&gt;');
  });

  it('cannot be approved in Slack where a message does not hold all arguments', () => {
    const long = rowOf({ arguments: { text: 'x'.repeat(20_000) } });
    for (const place of [PRIVATE, CHANNEL]) {
      const text = JSON.stringify(approvalMessage(long, place));
      expect(text).not.toContain('parley_approve');
      expect(text).toContain('parley_deny');
      expect(text.match(/[^"]*too long[^"]*/gu)).toEqual([
        'The arguments are too long for Slack. Approve the call in the chat or the inbox.',
      ]);
    }
  });

  it('shows characters that are not drawn by their numbers', () => {
    for (const code of [0x3164, 0x34f, 0x115f, 0xfe00, 0xfe0f, 0xe0100, 0xe01ef, 0x2028])
      expect(argumentsText({ to: `a${String.fromCodePoint(code)}b` })).toBe(
        `to: "a\\u{${code.toString(16)}}b"`,
      );
  });

  it('shows every character, and no value that looks like another argument', () => {
    const text = argumentsText({ to: 'a\nadmin: true', order: 'x\u202ey\u200b', deep: { list: [1, 'two'] } });
    expect(text).toBe(
      'to: \n  | a\n  | admin: true\norder: "x\\u{202e}y\\u{200b}"\ndeep: {\n  "list": [\n    1,\n    "two"\n  ]\n}',
    );
  });
});

describe('an edit in Slack', () => {
  it('has inputs for what can be edited, and none for a masked value or a secret', () => {
    const names = editableArguments(typed().definition).map(({ name }) => name);
    expect(names).toEqual(['amount', 'kind', 'at', 'note', 'fast', 'lines', 'extra', 'pieces']);
    const types = (editModal(typed())?.blocks ?? []).flatMap((block) =>
      'element' in block ? [block.element.type] : [],
    );
    const [number, choice, text] = ['number_input', 'radio_buttons', 'plain_text_input'];
    expect(types).toEqual([number, choice, text, text, choice, text, text, number]);
  });

  it('tells arguments with equal titles apart, whatever inputs they have', () => {
    const given = { from: 1, to: 'B', via: [1], kept: 'K' };
    const titled = Object.keys(given).map((name) => [name, { title: name === 'kept' ? name : 'Account' }]);
    const row = rowOf({
      inputSchema: { properties: Object.fromEntries(titled) },
      arguments: given,
      masked: [],
    });
    const labels = (editModal(row)?.blocks ?? []).flatMap((block) =>
      'label' in block ? [block.label.text] : [],
    );
    expect(labels).toEqual(['Account (from)', 'Account (to)', 'Account (via)', 'kept']);
  });

  it('reads the schema of the tool once for all arguments that the call does not have', () => {
    const readsOf = (count: number) => {
      let reads = 0;
      const inputSchema = {
        properties: Object.fromEntries(
          Array.from({ length: count }, (_, at) => [`a${at}`, { type: 'string' }]),
        ),
        get allOf() {
          reads += 1;
          return [];
        },
      };
      const { definition } = rowOf({ inputSchema, arguments: {}, masked: [] });
      expect(editableArguments(definition)).toHaveLength(Math.min(count, 60));
      return reads;
    };
    expect(readsOf(200)).toBe(readsOf(1));
  });

  it('sends a modal that nobody touched as the call was, for all arguments', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }), (given) => {
        const row = typed({ ...GIVEN, ...(given as Arguments) });
        // As JSON, which is how they are sent: it has one zero.
        const sent = JSON.stringify({ arguments: row.definition.arguments });
        expect(JSON.stringify(editOf(row.definition, stateOf(row)))).toBe(sent);
      }),
      { numRuns: 100 },
    );
    // A name with a meaning in JavaScript is an argument like any other.
    const named = typed(JSON.parse('{"__proto__": {"a": 1}, "amount": 1}') as Arguments);
    expect(JSON.stringify(editOf(named.definition, stateOf(named)))).toBe(
      '{"arguments":{"__proto__":{"a":1},"amount":1}}',
    );
  });

  it('reads every input, and leaves out what was emptied', () => {
    const row = typed();
    const state = stateOf(row, {
      amount: { value: '30' },
      kind: { selected_option: { value: '0' } },
      at: { value: null },
      fast: { selected_option: { value: '0' } },
      lines: { value: '[{"item": "Chair"}]' },
      pieces: { value: '4' },
    });
    const { at: _, ...rest } = GIVEN;
    expect(editOf(row.definition, state)).toEqual({
      arguments: { ...rest, amount: 30, kind: 'gift', fast: true, lines: [{ item: 'Chair' }], pieces: 4 },
    });
  });

  it('says at its input that a text is not JSON', () => {
    const row = typed();
    expect(editOf(row.definition, stateOf(row, { lines: { value: '[{' } }))).toEqual({
      errors: { field_5: 'This is not JSON.' },
    });
  });

  it('leaves the check of the arguments to the schema of the tool', () => {
    const row = typed();
    const edit = editOf(row.definition, stateOf(row, { amount: { value: 'many' } }));
    const given = 'arguments' in edit ? edit.arguments : {};
    expect(faultsOfArguments(TYPED, given, ['/apiKey'])).toEqual([
      { path: 'amount', message: expect.any(String) },
    ]);
  });
});
