import { controlsOf } from '@parley/core/domain/forms/controls';
import { describe, expect, it } from 'vitest';
import type { Approval } from '../../../clients/widget/src/approval.ts';
import { isApproval, newerApproval } from '../../../clients/widget/src/approval.ts';
import { createEditForm } from '../../../clients/widget/src/approval-card/edit.ts';
import { type Draft, readDrafts } from '../../../clients/widget/src/form/drafts.ts';

const BAD_JSON = 'is not valid JSON';

function call(more: Partial<Approval>): Approval {
  return {
    approvalId: 'ap_1',
    tool: { server: 'bank', name: 'bank_pay' },
    arguments: {},
    status: 'pending',
    ...more,
  };
}

/** The arguments after these fields were changed, as the card reads them. */
function edited(approval: Approval, changes: Readonly<Record<string, Draft>> = {}) {
  const form = createEditForm(approval);
  const reading = readDrafts(controlsOf(form.schema), new Map(Object.entries(changes)));
  if (!reading.ok) return { faults: [...reading.faults.keys()] };
  return form.read(reading.content, BAD_JSON);
}

describe('the form of arguments', () => {
  const given = {
    to: '',
    amount: 1.5,
    urgent: false,
    note: 'a\nb',
    list: [1, { deep: true }],
    nothing: null,
    ['__proto__']: 'own',
  };

  it('gives back exactly the arguments when nothing was changed', () => {
    const args = JSON.parse('{"__proto__":"own"}') as Record<string, unknown>;
    Object.assign(args, { ...given });
    expect(edited(call({ arguments: args }))).toEqual({ arguments: args });
  });

  it('changes values of each kind, and removes what was cleared', () => {
    const inputSchema = {
      type: 'object',
      properties: { to: { type: 'string' }, amount: { type: 'integer' }, extra: { type: 'boolean' } },
      required: ['to', 'amount'],
    };
    const approval = call({ arguments: { to: 'Ada', amount: 2, list: [1], note: 'x' }, inputSchema });
    const changes = { to: '', amount: '7', extra: true, list: '{"a": 1}', note: '' };
    expect(edited(approval, changes)).toEqual({
      arguments: { to: '', amount: 7, extra: true, list: { a: 1 } },
    });
    expect(edited(approval, { amount: '1.5' })).toEqual({ faults: ['amount'] });
    expect(edited(approval, { amount: '' })).toEqual({ faults: ['amount'] });
    expect(edited(approval, { list: '[' })).toEqual({ errors: [{ path: 'list', message: BAD_JSON }] });
  });

  it('offers the values of an enumeration, and requires one', () => {
    const properties = { currency: { type: 'string', enum: ['CHF', 'EUR'] } };
    const approval = call({
      arguments: { currency: 'CHF' },
      inputSchema: { properties, required: ['currency'] },
    });
    expect(controlsOf(createEditForm(approval).schema)).toMatchObject([
      { kind: 'select', isRequired: true, initial: 'CHF' },
    ]);
    expect(edited(approval, { currency: 'EUR' })).toEqual({ arguments: { currency: 'EUR' } });
  });

  it('leaves alone what is masked, too long for a field, or has hidden characters', () => {
    const args = { pin: '••••••', 'a/b': '••••••', long: 'x'.repeat(10_001), turned: 'a\u202eb', to: 'Ada' };
    const approval = call({ arguments: args, masked: ['/pin', '/a~1b'] });
    const { schema, kept } = createEditForm(approval);
    expect(controlsOf(schema).map(({ name }) => name)).toEqual(['to']);
    expect(kept).toEqual(['pin', 'a/b', 'long', 'turned']);
    expect(edited(approval, { to: 'Grace' })).toEqual({ arguments: { ...args, to: 'Grace' } });
  });

  it('offers no field for a secret that the call does not have', () => {
    const properties = {
      pin: { type: 'string', format: 'password' },
      key: { type: 'string', writeOnly: true },
    };
    expect(controlsOf(createEditForm(call({ inputSchema: { properties } })).schema)).toEqual([]);
  });

  it("places the server's errors at the argument that they are about", () => {
    const form = createEditForm(call({ arguments: { place: { city: '' }, 'a.b': 1, arguments: 'x' } }));
    const placed = form.placed([
      { path: 'arguments.place.city', message: 'too short' },
      { path: 'arguments.place.pin', message: 'is secret' },
      { path: 'arguments.a.b', message: 'too small' },
      { path: 'arguments.arguments', message: 'too long' },
      { path: 'arguments', message: 'must leave the masked values as they are' },
    ]);
    expect(placed).toEqual([
      { path: 'place', message: 'city: too short' },
      { path: 'place', message: 'pin: is secret' },
      { path: 'a.b', message: 'too small' },
      { path: 'arguments', message: 'too long' },
      { path: '', message: 'must leave the masked values as they are' },
    ]);
  });
});

describe('views of an approval', () => {
  it('keep a decision, whatever arrives later, and take what it lacks', () => {
    const denied = call({ status: 'denied' });
    expect(newerApproval(denied, call({}))).toBe(denied);
    expect(newerApproval(denied, call({ status: 'denied', reason: 'No.' }))).toMatchObject({ reason: 'No.' });
    expect(newerApproval(call({}), denied)).toBe(denied);
  });

  it.each([
    [{ approvalId: '' }],
    [{ tool: { server: 'bank' } }],
    [{ arguments: [] }],
    [{ status: 'answered' }],
    [{ masked: 'all' }],
    [{ agent: 7 }],
  ])('are refused when they cannot be shown: %j', (fault) => {
    expect(isApproval(call({}))).toBe(true);
    expect(isApproval({ ...call({}), ...fault })).toBe(false);
  });
});
