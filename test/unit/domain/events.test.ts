import { ACTIONS, STATUSES } from '@parley/core/domain/elicitations/status';
import {
  ELICITATION_EVENTS,
  ElicitationEvent,
  formatFeedPosition,
  isElicitationEvent,
  parseFeedPosition,
  StreamEvent,
} from '@parley/core/domain/events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sized } from '../../harness/proof-size.ts';

const position = fc.record({
  epoch: fc.bigInt({ min: 1n, max: 9_999_999_999_999_999_999n }).map(String),
  seq: fc.nat({ max: 999_999_999_999_999 }),
});

describe('a position', () => {
  it('is parsed to the value that was written', () => {
    fc.assert(
      fc.property(position, (at) => {
        expect(parseFeedPosition(formatFeedPosition(at))).toEqual(at);
      }),
    );
  });

  it('has one spelling only', () => {
    const text = fc.oneof(
      position.map(formatFeedPosition),
      fc.string({ unit: fc.constantFrom(...'0123456789- +.eE'), maxLength: 24 }),
    );
    fc.assert(
      fc.property(text, (written) => {
        const at = parseFeedPosition(written);
        if (at !== undefined) expect(formatFeedPosition(at)).toBe(written);
      }),
      { numRuns: sized(2_000) },
    );
  });

  it.each([
    ...['', '1', '1-', '01-1', '1--1', '+1-1', '1-1\n', '(1-1', '١-١', '12345678901234567890-1'],
    '1-1234567890123456',
  ])('is not %j', (text) => {
    expect(parseFeedPosition(text)).toBeUndefined();
  });

  it('may be the one before the first event', () => {
    expect(parseFeedPosition('1700000000000000-0')).toEqual({ epoch: '1700000000000000', seq: 0 });
  });
});

describe('a stream event', () => {
  const event = { type: 'elicitation-updated', elicitationId: 'el_1', revision: 2, status: 'opened' };

  it.each(ELICITATION_EVENTS)('of type %s is understood', (type) => {
    const read = StreamEvent.parse({ ...event, type });
    expect(isElicitationEvent(read)).toBe(true);
  });

  it('loses a field named __proto__', () => {
    const read = StreamEvent.parse(JSON.parse('{"type": "x-new", "__proto__": {"admin": true}, "kept": 1}'));
    expect(Object.keys(read)).toEqual(['type', 'kept']);
    expect(read).not.toHaveProperty('admin');
  });

  it('of an unknown type passes unchanged', () => {
    const name = fc.string().filter((text) => text !== '__proto__');
    fc.assert(
      fc.property(fc.dictionary(name, fc.jsonValue()), fc.string(), (fields, word) => {
        const type = `x-${word}`;
        const given = { ...fields, type };
        const read = StreamEvent.parse(given);
        expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(JSON.stringify(given)));
        expect(isElicitationEvent(read)).toBe(false);
      }),
    );
  });

  it('is understood as the schema understands it', () => {
    const anyOf = (...values: readonly unknown[]) => fc.oneof(fc.constantFrom(...values), fc.jsonValue());
    const fields = {
      type: fc.constantFrom(...ELICITATION_EVENTS, 'x-new'),
      elicitationId: anyOf('el_1'),
      revision: anyOf(1, 1.5, 2 ** 60, -1),
      status: anyOf(...STATUSES, 'paused'),
      action: anyOf(undefined, ...ACTIONS, null),
      reason: anyOf(undefined, 'superseded'),
      surface: anyOf(undefined, 'api'),
    };
    const given = fc.record(fields, { requiredKeys: ['type'] });
    fc.assert(
      fc.property(given, (one) => {
        expect(isElicitationEvent(one)).toBe(ElicitationEvent.safeParse(one).success);
      }),
      { numRuns: sized(3_000) },
    );
  });

  it('keeps fields that a later version added', () => {
    expect(ElicitationEvent.parse({ ...event, colour: 'red' })).toEqual({ ...event, colour: 'red' });
  });

  it('of a known type with a status of a later version is passed on, not understood', () => {
    const read = StreamEvent.parse({ ...event, status: 'paused' });
    expect(read).toEqual({ ...event, status: 'paused' });
    expect(isElicitationEvent(read)).toBe(false);
  });

  it.each([undefined, null, 'text', 1, [], {}, { type: 1 }])('is not %j', (value) => {
    expect(StreamEvent.safeParse(value).success).toBe(false);
  });
});
