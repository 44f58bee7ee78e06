import { STATUSES, type Status } from '@parley/core/domain/elicitations/status';
import { checkFormAnswer } from '@parley/core/domain/forms/answer';
import { controlsOf } from '@parley/core/domain/forms/controls';
import { checkFormSchema, type FormSchema } from '@parley/core/domain/forms/schema';
import type { Row } from '@parley/shared/domain/elicitations/row';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chosenContent,
  contentOf,
  errorsOf,
} from '../../../services/api/src/surfaces/slack/mapping/answer.ts';
import {
  approvalMessage,
  denyModal,
  editModal,
} from '../../../services/api/src/surfaces/slack/mapping/approval.ts';
import { choicesIn } from '../../../services/api/src/surfaces/slack/mapping/fields.ts';
import { formModal } from '../../../services/api/src/surfaces/slack/mapping/modal.ts';
import { escalationMessage } from '../../../services/api/src/surfaces/slack/mapping/notice.ts';
import {
  addressMessage,
  formWayOf,
  questionMessage,
} from '../../../services/api/src/surfaces/slack/mapping/question.ts';
import { createReply } from '../../../services/api/src/surfaces/slack/mapping/reply.ts';
import { stepCallsMessage, stepMessage } from '../../../services/api/src/surfaces/slack/mapping/step.ts';
import { escaped, piecesOf } from '../../../services/api/src/surfaces/slack/mapping/text.ts';
import { faultOfMessage, faultOfView } from '../../harness/slack/blocks.ts';
import { approvalRow, questionRow } from '../../harness/slack/rows.ts';
import { formSchema } from '../domain/form-arbitraries.ts';

const PLACE = { user: 'U1', isPrivate: false, answerPage: 'https://parley.example/auth/answer/x' };

const rowOf = (more: Partial<Row['definition']> = {}, status: Status = 'pending') =>
  questionRow({ message: 'Which <!channel> & *why*?', ...more }, { status });

/** All texts of a message or a modal, by how Slack reads them. The text beside blocks is mrkdwn. */
function textsIn(shown: unknown) {
  const plain: string[] = [];
  const mrkdwn: string[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (typeof value !== 'object' || value === null) return;
    const { type, text } = value as { readonly type?: string; readonly text?: unknown };
    if (typeof text === 'string') (type === 'plain_text' || type === 'text' ? plain : mrkdwn).push(text);
    Object.values(value).forEach(visit);
  };
  visit(shown);
  return { plain, mrkdwn };
}

function checked(input: unknown): FormSchema {
  const result = checkFormSchema(input);
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return result.schema;
}

describe('a question in Slack', () => {
  it('keeps within the limits of Block Kit for every form and status, as a message and as a modal', () => {
    fc.assert(
      fc.property(
        formSchema,
        fc.constantFrom(...STATUSES),
        fc.string({ maxLength: 9_000, minLength: 1 }),
        (schema, status, message) => {
          const requestedSchema = checked(schema);
          const row = rowOf({ requestedSchema, message }, status);
          expect(faultOfMessage({ ...questionMessage(row, PLACE) })).toBeUndefined();
          if (formWayOf(row.definition) === 'modal')
            expect(faultOfView({ ...formModal(row) })).toBeUndefined();
        },
      ),
      { numRuns: 12 },
    );
  });

  it('is asked in a modal, which holds all of it, where a message does not', () => {
    const requestedSchema = checked({ type: 'object', properties: { yes: { type: 'boolean' } } });
    const texts = { message: 'a&"'.repeat(3_000), description: `${'b'.repeat(2_000)}end` };
    const row = rowOf({ requestedSchema, ...texts });
    expect(formWayOf(row.definition)).toBe('modal');
    const message = { ...questionMessage(row, PLACE) };
    expect(faultOfMessage(message)).toBeUndefined();
    expect(JSON.stringify(message)).toContain('…');
    expect(faultOfView({ ...formModal(row) })).toBeUndefined();
    expect(JSON.stringify(formModal(row))).toContain('bbend');
  });

  it('is answered on its page where a modal would be too large', () => {
    const choices = Array.from({ length: 90 }, (_, at) => `${at}`);
    const form = (count: number) => {
      const names = Array.from({ length: count }, (_, at) => `f${at}`);
      const field = { type: 'string', enum: choices };
      return checked({ type: 'object', properties: Object.fromEntries(names.map((name) => [name, field])) });
    };
    const row = (count: number) => rowOf({ requestedSchema: form(count), message: 'é'.repeat(9_000) });
    expect(faultOfView({ ...formModal(row(50)) })).toBe('view_too_large');
    expect(formWayOf(row(50).definition)).toBe('page');
    expect(faultOfView({ ...formModal(row(15)) })).toBeUndefined();
    expect(formWayOf(row(15).definition)).toBe('modal');
  });

  it('holds no mention or link that its asker wrote', () => {
    const message = questionMessage(rowOf(), PLACE);
    for (const text of [JSON.stringify(message.blocks), message.text]) {
      expect(text).toContain('&lt;!channel&gt; &amp;');
      expect(text).not.toContain('<!channel>');
    }
  });

  it('shows hostile names and texts readable and escaped, in messages, modals and texts for notifications', () => {
    const hostile = (which: string) => `${which}\u202e\u200b<!channel> & <@U9>`;
    const choices = ['a', 'b'].map((which) => ({ const: which, title: hostile(which) }));
    const oneOf = { type: 'string' as const, title: hostile('field'), oneOf: choices };
    const other = { type: 'string' as const, title: hostile('other'), description: hostile('hint') };
    const texts = { title: hostile('title'), message: hostile('message'), description: hostile('more') };
    const schemas = [
      { one: oneOf },
      { one: oneOf, two: other, [hostile('name')]: { type: 'boolean' as const } },
    ];
    const rows = schemas.map((properties) =>
      rowOf({ ...texts, requestedSchema: { type: 'object', properties } }),
    );
    const tool = { server: hostile('server'), name: hostile('tool'), title: hostile('title') };
    const inputSchema = {
      type: 'object',
      properties: { plain: other, chosen: { type: 'string', enum: [hostile('a'), hostile('b')] } },
    };
    const more = { agent: hostile('agent'), arguments: { plain: 'x' }, masked: [] };
    const call = approvalRow({ tool, inputSchema, ...more });
    for (const shown of [
      ...rows.flatMap((row) => [questionMessage(row, PLACE), formModal(row), escalationMessage(row, PLACE)]),
      approvalMessage(call, PLACE),
      editModal(call),
      denyModal([call]),
      stepMessage([call, call], PLACE),
      stepCallsMessage([call, call], 'U1'),
    ]) {
      const { plain, mrkdwn } = textsIn(shown);
      expect([...plain, ...mrkdwn].join()).not.toMatch(/[\u202e\u200b]/u);
      expect(mrkdwn.join()).not.toMatch(/<!channel|<@U9|& /u);
      expect([...plain, ...mrkdwn].join()).toContain('[U+202E][U+200B]');
    }
    expect(formWayOf(rows[0]?.definition as never)).toBe('buttons');
  });

  it('has buttons while it is open only, whose values are its id', () => {
    const requestedSchema = checked({ type: 'object', properties: { yes: { type: 'boolean' } } });
    for (const status of STATUSES) {
      const text = JSON.stringify(questionMessage(rowOf({ requestedSchema }, status), PLACE).blocks);
      const isOpen = status === 'pending' || status === 'opened';
      expect(text.includes('"button"'), status).toBe(isOpen);
      if (isOpen) expect(text.match(/"value":"el_00AAAAAAAAAAAAAAAAAAAAAA"/g)).toHaveLength(3);
    }
    expect(questionMessage(rowOf({ requestedSchema }, 'expired'), PLACE).text).toContain('Expired');
  });

  it('shows an address in a channel to the person asked alone', () => {
    const row = rowOf({ mode: 'url', url: 'https://pay.example/one' });
    expect(JSON.stringify(questionMessage(row, PLACE))).not.toContain('pay.example');
    expect(JSON.stringify(questionMessage(row, { ...PLACE, isPrivate: true }))).toContain(
      'https://pay.example/one',
    );
    expect(JSON.stringify(addressMessage(row))).toContain('Open pay.example');
  });

  it('asks for a sensitive form on its page', () => {
    const requestedSchema = checked({ type: 'object', properties: { pin: { type: 'string' } } });
    expect(formWayOf(rowOf({ requestedSchema, sensitive: true }).definition)).toBe('page');
    expect(formWayOf(rowOf({ requestedSchema }).definition)).toBe('modal');
  });
});

describe('an answer from Slack', () => {
  const schema = checked({
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 2 },
      count: { type: 'integer', minimum: 1 },
      day: { type: 'string', format: 'date' },
      at: { type: 'string', format: 'date-time' },
      size: { type: 'string', enum: ['s', 'l'], enumNames: ['Small', 'Large'] },
      tags: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] } },
      sure: { type: 'boolean' },
    },
  });
  const field = (index: number, state: object) => ({ [`field_${index}`]: { value: state } });

  it('reads every kind of input', () => {
    const state = {
      ...field(0, { value: 'Ada' }),
      ...field(1, { value: '3' }),
      ...field(2, { selected_date: '2026-11-23' }),
      ...field(3, { selected_date_time: 1_700_000_000 }),
      ...field(4, { selected_option: { value: '1' } }),
      ...field(5, { selected_options: [{ value: '0' }, { value: '2' }] }),
      ...field(6, { selected_option: { value: '1' } }),
    };
    const content = contentOf(schema, state);
    expect(content).toEqual({
      name: 'Ada',
      count: 3,
      day: '2026-11-23',
      at: '2023-11-14T22:13:20.000Z',
      size: 'l',
      tags: ['a', 'c'],
      sure: false,
    });
    expect(checkFormAnswer(schema, content).ok).toBe(true);
  });

  it('leaves out what has no value, and puts each fault at its field', () => {
    const empty = { ...field(0, { value: null }), ...field(4, { selected_option: null }) };
    expect(contentOf(schema, empty)).toEqual({});
    const faulty = { ...field(0, { value: 'A' }), ...field(1, { value: 'many' }) };
    const wrong = checkFormAnswer(schema, contentOf(schema, faulty));
    expect(wrong.ok ? {} : errorsOf(Object.keys(schema.properties), wrong.issues)).toEqual({
      field_0: expect.any(String),
      field_1: expect.any(String),
    });
  });

  it.each([
    ['an optional list with a least number', { minItems: 2 }, false, {}, undefined],
    ['an optional list', {}, false, {}, undefined],
    ['an optional list that was cleared', { default: ['a'] }, false, { selected_options: [] }, undefined],
    ['a required list', {}, true, { selected_options: [] }, []],
    ['a required list with a least number', { minItems: 2 }, true, {}, []],
  ])('takes no choice in %s as other surfaces do', (_what, more, isRequired, state, answered) => {
    const list = { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, ...more };
    const form = checked({
      type: 'object',
      properties: { list },
      ...(isRequired && { required: ['list'] }),
    });
    expect(contentOf(form, field(0, state)).list).toEqual(answered);
  });

  it('keeps a time as it was where the person did not change it', () => {
    const properties = {
      at: { type: 'string', format: 'date-time', default: '2026-10-25t02:30:00.5+01:00' },
    };
    const form = checked({ type: 'object', properties });
    const [input] = formModal(rowOf({ requestedSchema: form })).blocks.slice(1) as never as [
      { element: { initial_date_time: number } },
    ];
    const seconds = input.element.initial_date_time;
    expect(contentOf(form, field(0, { selected_date_time: seconds }))).toEqual({
      at: '2026-10-25t02:30:00.5+01:00',
    });
    expect(contentOf(form, field(0, { selected_date_time: seconds + 900 }))).toEqual({
      at: '2026-10-25T01:45:00.000Z',
    });
  });

  it('answers a choice by its index, for every choice of every form', () => {
    fc.assert(
      fc.property(formSchema, (input) => {
        const requestedSchema = checked(input);
        if (formWayOf(rowOf({ requestedSchema }).definition) !== 'buttons') return;
        const count = controlsOf(requestedSchema).flatMap(choicesIn).length;
        for (let index = 0; index < count; index += 1)
          expect(checkFormAnswer(requestedSchema, chosenContent(requestedSchema, index)).ok).toBe(true);
        expect(chosenContent(requestedSchema, count)).toBeUndefined();
      }),
      { numRuns: 100 },
    );
  });
});

describe('a reply in Slack', () => {
  const place = { id: '', isKnown: false, isWaiting: false };
  const delta = (text: string, block = 'b') =>
    ({ ...place, type: 'turn', event: { type: 'text-delta', block, text } }) as const;

  it('is one message that grows, and a further one after a question and where it is full', () => {
    const reply = createReply();
    expect(reply.messages('sr_1')).toHaveLength(1);
    reply.take(delta('One moment.'));
    expect(JSON.stringify(reply.messages('sr_1')[0]?.blocks)).toContain('One moment.');
    const elicitation = { elicitationId: 'el_1' } as never;
    const asked = { type: 'question', change: 'elicitation-request', isSuperseded: false } as const;
    reply.take({ ...place, ...asked, elicitation });
    expect(reply.messages('sr_1')).toHaveLength(1);
    reply.take(delta('word '.repeat(4_000), 'c'));
    const messages = reply.messages('sr_1');
    expect(messages).toHaveLength(3);
    for (const message of messages) expect(faultOfMessage({ ...message })).toBeUndefined();
    expect(JSON.stringify(messages.at(-1))).toContain('parley_stop');
    reply.take({ ...place, type: 'turn', event: { type: 'turn-finished', reason: 'stop' } });
    expect(JSON.stringify(reply.messages('sr_1'))).not.toContain('parley_stop');
  });

  it('is cut into pieces that hold all of a text, do not change when it grows, and fit when they are escaped', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 400, unit: fc.constantFrom('a', ' ', '\n', '&', '<', '😀') }),
        fc.string(),
        (text, more) => {
          const pieces = piecesOf(text, 40);
          expect(pieces.join('')).toBe(text);
          for (const piece of pieces) expect(escaped(piece).length).toBeLessThanOrEqual(40);
          expect(piecesOf(text + more, 40).slice(0, pieces.length - 1)).toEqual(pieces.slice(0, -1));
        },
      ),
    );
  });
});
