import type { DeliveryFacts, HolderFacts, WhyFacts } from '@parley/shared/domain/why/facts';
import type { Reason } from '@parley/shared/domain/why/strings';
import { ENGLISH_WHY } from '@parley/shared/domain/why/strings-en';
import { reasonsOf, why } from '@parley/shared/domain/why/why';
import fc from 'fast-check';
import { expect, it } from 'vitest';

const NOW = Date.UTC(2026, 0, 15, 10, 0, 0);
const DAYS_MS = 3 * 86_400_000;

const id = fc.nat(999).map((number) => `id-${number}`);
const maybe = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { nil: undefined });
const past = fc.nat(DAYS_MS).map((ms) => NOW - ms);
const time = fc.integer({ min: -DAYS_MS, max: DAYS_MS }).map((ms) => NOW + ms);
const attempts = fc.nat(3);
/** None, one, or more of them than are listed. */
const some = <Value>(of: fc.Arbitrary<Value>) =>
  fc.constantFrom(0, 1, 12).chain((length) => fc.array(of, { minLength: length, maxLength: length }));

const record = fc.record({
  kind: fc.constantFrom('question', 'approval'),
  name: id,
  status: fc.constantFrom('pending', 'opened', 'accepted', 'edited', 'expired', 'withdrawn', 'id-later'),
  hasEnded: fc.boolean(),
  trigger: id,
  tool: maybe(id),
  createdAt: past,
  expiresAt: time,
  settledAt: maybe(fc.constant(NOW)),
  surface: maybe(id),
  reason: maybe(fc.oneof(id, fc.constantFrom('run_stopped', 'superseded', 'constructor'))),
});
const holder: fc.Arbitrary<HolderFacts> = fc.oneof(
  fc.record({ type: fc.constant('pod'), pod: id, isAlive: fc.boolean() }),
  fc.constant({ type: 'queued' } as const),
  fc.record({ type: fc.constant('detached'), restsUntil: maybe(time) }),
);
const run = fc.record({
  streamRequestId: id,
  agent: id,
  status: fc.constantFrom('running', 'running', 'running', 'finished', 'failed', 'stopped'),
  startedAt: past,
  endedAt: maybe(past),
  holder,
  isStopping: fc.boolean(),
  takeOvers: fc.nat(2),
  waits: some(fc.record({ id, trigger: id, since: past, openUntil: maybe(time) })),
  calls: some(fc.record({ toolName: id, since: past, delegate: maybe(id) })),
  parent: maybe(id),
});
const person = fc.record({
  name: id,
  streams: fc.array(id, { maxLength: 2 }),
  channel: maybe(fc.record({ name: id, isLinked: maybe(fc.boolean()), dueInMs: maybe(fc.nat(2_000)) })),
});
const delivery: fc.Arbitrary<DeliveryFacts> = fc.oneof(
  fc.record({
    kind: id,
    state: fc.constant('outstanding'),
    dueInMs: fc.constantFrom(0, 40_000),
    attempts,
    isLeased: fc.boolean(),
  }),
  fc.record({
    kind: id,
    state: fc.constant('dead'),
    attempts,
    lastError: fc.constantFrom('status', 'timeout'),
    lastStatus: maybe(fc.constant(503)),
    diedAt: past,
  }),
);
const facts: fc.Arbitrary<WhyFacts> = fc.record({
  now: fc.constant(NOW),
  record: maybe(record),
  run: maybe(run),
  person: maybe(person),
  deliveries: fc.array(delivery, { maxLength: 2 }),
});

/** What a sentence must hold of its facts: every id, every moment, and how many of its largest unit a length of time has. */
function valuesOf(reason: Reason): string[] {
  return Object.entries(reason).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === 'object' && value !== null) return Object.values(value).map(String);
    if (typeof value === 'string') return value.startsWith('id-') ? [value] : [];
    if (typeof value !== 'number' || (value === 0 && ['ahead', 'attempts'].includes(name))) return [];
    if (['count', 'attempts', 'status'].includes(name)) return [`${value}`];
    const unit = [86_400_000, 3_600_000, 60_000, 1_000].find((each) => value >= each) ?? 1_000;
    return [`${Math.floor(Math.max(0, value) / unit)}`];
  });
}

it('each reason is a sentence of its own in each language, with all of its values', () => {
  const said = new Set<string>();
  fc.assert(
    fc.property(facts, (drawn) => {
      const reasons = reasonsOf(drawn);
      const [english, german] = [why(drawn, 'en'), why(drawn, 'de')];
      expect([english.length, german.length]).toEqual([reasons.length, reasons.length]);
      for (const [at, reason] of reasons.entries()) {
        said.add(reason.code);
        const sentences = [english[at] ?? '', german[at] ?? ''];
        const isOne = (sentence: string) =>
          /^[\p{Lu}\di].*[^.]\.$/u.test(sentence) &&
          !/undefined|null|NaN|\[object|=>|\s\s/.test(sentence) &&
          valuesOf(reason).every((value) => sentence.includes(value));
        const faults = sentences.filter((sentence) => !isOne(sentence));
        expect(sentences[0] === sentences[1] ? [...faults, 'the same twice'] : faults).toEqual([]);
      }
    }),
    { numRuns: 200 },
  );
  expect([...said].toSorted()).toEqual(Object.keys(ENGLISH_WHY).toSorted());
});
