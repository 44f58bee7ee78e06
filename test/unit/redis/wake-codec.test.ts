import { ApprovalWake } from '@parley/shared/domain/approvals/wake';
import { InboxWake, Wake } from '@parley/shared/domain/elicitations/wake';
import { decodeApprovalWake, decodeInboxWake, decodeWake } from '@parley/shared/redis/feed/wake-codec';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sized } from '../../harness/proof-size.ts';

/** Values of the usual kinds, and any others. */
const value = fc.oneof(
  fc.string(),
  fc.boolean(),
  fc.double(),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.jsonValue({ maxDepth: 1 }),
);
const text = fc.oneof(fc.string(), fc.jsonValue({ maxDepth: 1 }));
const optional = { requiredKeys: [] };

const settlement = fc.record(
  {
    action: fc.oneof(fc.constantFrom('accept', 'decline', 'cancel'), text),
    content: fc.oneof(fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), value), text),
    responseId: text,
    reason: text,
    surface: text,
    key: text,
    other: text,
  },
  optional,
);
const tail = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      {
        elicitationId: text,
        approvalId: text,
        revision: fc.oneof(fc.nat(), fc.double(), text),
        status: text,
        settlement: fc.oneof({ weight: 4, arbitrary: settlement }, { weight: 1, arbitrary: text }),
        turn: fc.oneof(fc.constant(true), text),
        other: text,
        position: text,
        at: text,
      },
      optional,
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const at = fc.oneof(fc.nat().map(String), fc.constantFrom('', 'x', '1e400', '-1', '1.5'));

it.each([
  ['stream', decodeWake, Wake],
  ['inbox', decodeInboxWake, InboxWake],
  ['stream for readers of approvals', decodeApprovalWake, ApprovalWake],
] as const)('decodes a wake on the channel of a %s as its schema does', (_, decode, schema) => {
  fc.assert(
    fc.property(fc.constantFrom('7-1000001', '', 'x'), at, tail, (position, time, sent) => {
      const json = JSON.stringify(sent);
      const parsed = schema.safeParse({ ...JSON.parse(json), position, at: Number(time) });
      expect(decode(`${position} ${time} ${json}`)).toEqual(parsed.data);
    }),
    { numRuns: sized(3_000) },
  );
});

it.each(['', 'x', '7-1', '7-1 5', '7-1 5 {', '7-1 5 null', '7-1 5 "x"'])(
  'decodes nothing from %j',
  (message) => {
    expect(decodeWake(message)).toBeUndefined();
  },
);
