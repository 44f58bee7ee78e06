import { STATUSES } from '@parley/core/domain/elicitations/status';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Elicitation, isElicitation, isOpen, newer } from '../../../clients/widget/src/elicitation.ts';

const base: Elicitation = { elicitationId: 'el_1', mode: 'form', message: 'Hi', status: 'pending' };
const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1_000).toISOString();

describe('what counts as an elicitation', () => {
  it.each([
    ['four fields', base],
    ['unknown fields', { ...base, v: 2, respondUrl: 'x', context: { trigger: 'agent', new: [] } }],
    ['an empty message', { ...base, message: '' }],
  ])('has %s', (_, value) => {
    expect(isElicitation(value)).toBe(true);
  });

  it.each([
    ['nothing', undefined],
    ['a list', [base]],
    ['no id', { ...base, elicitationId: undefined }],
    ['an empty id', { ...base, elicitationId: '' }],
    ['a status of the future', { ...base, status: 'snoozed' }],
    ['a status from a prototype', { ...base, status: 'toString' }],
    ['a mode of the future', { ...base, mode: 'video' }],
    ['an object for a message', { ...base, message: { text: 'x' } }],
    ['a title that is no text', { ...base, title: 5 }],
    ['a url that is no text', { ...base, url: {} }],
    ['a time that is no text', { ...base, expiresAt: 5 }],
    ['a context that is no object', { ...base, context: 'agent' }],
  ])('does not have %s', (_, value) => {
    expect(isElicitation(value)).toBe(false);
  });

  it('never makes the check throw', () => {
    fc.assert(fc.property(fc.anything(), (value) => void isElicitation(value)));
  });
});

describe('the newer of two views', () => {
  const view = fc.record({
    status: fc.constantFrom(...STATUSES),
    serverTime: fc.option(fc.integer({ min: 0, max: 3 }).map(at), { nil: undefined }),
  });
  const made = (part: { status: Elicitation['status']; serverTime: string | undefined }): Elicitation => ({
    ...base,
    status: part.status,
    ...(part.serverTime !== undefined && { serverTime: part.serverTime }),
  });

  it('never goes back in its life, in whatever order news come', () => {
    fc.assert(
      fc.property(fc.array(view, { minLength: 1, maxLength: 6 }), (parts) => {
        let known: Elicitation | undefined;
        let end: string | undefined;
        for (const part of parts) {
          const before = known;
          known = newer(known, made(part));
          if (before !== undefined && !isOpen(before)) expect(known.status).toBe(end);
          if (before?.status === 'opened') expect(known.status).not.toBe('pending');
          if (!isOpen(known)) end ??= known.status;
        }
        if (parts.some((part) => !isOpen(part))) expect(known && isOpen(known)).toBe(false);
      }),
    );
  });

  it('is the later one within a status, and the last to come where that is not known', () => {
    const early = { ...base, serverTime: at(1) };
    const late = { ...base, serverTime: at(2) };
    expect(newer(early, late)).toBe(late);
    expect(newer(late, early)).toBe(late);
    expect(newer(late, base)).toBe(base);
  });

  it('is the new one when it is of another question', () => {
    const other: Elicitation = { ...base, elicitationId: 'el_2' };
    expect(newer({ ...base, status: 'accepted' }, other)).toBe(other);
  });
});
