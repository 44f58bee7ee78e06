import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CheckOptions, checkHistory } from '../../harness/history/check-history.ts';
import type { HistoryEvent } from '../../harness/history/events.ts';
import { conversationOf, groupBy } from '../../harness/history/index-history.ts';
import { DELIVERY_DEFECTS } from '../../harness/history/planting/delivery-defects.ts';
import { end, LEGAL_HISTORY, push, red } from '../../harness/history/planting/legal-history.ts';
import { LEGAL_ODDITIES, UNKNOWN_OUTCOMES } from '../../harness/history/planting/legal-oddities.ts';
import { DEATHS, type SimulatedTurn, simulateRuns } from '../../harness/history/planting/legal-turns.ts';
import { add, change, type Plant, readDefects, remove } from '../../harness/history/planting/plant.ts';
import { RUN_DEFECTS } from '../../harness/history/planting/run-defects.ts';
import { SETTLEMENT_DEFECTS } from '../../harness/history/planting/settlement-defects.ts';
import { longestRefusalMs, type Outage } from '../../harness/history/refusals.ts';
import { RULE_NAMES } from '../../harness/history/registry.ts';
import { formatReport } from '../../harness/history/report.ts';

// That no rule is too strict for what clients really see is shown by every load that runs against pods.

type Events = readonly HistoryEvent[];

const smooth: SimulatedTurn = { deaths: [], late: false, lostReply: false, choice: 'deny' };
const hard: SimulatedTurn = { deaths: DEATHS, late: true, lostReply: true, choice: 'edit' };

/** Elicitations and turns in one history, which is judged by all rules. */
const LEGAL: Events = [...LEGAL_HISTORY, ...simulateRuns([smooth, hard])];
/** The turn that has a place for every defect of a run. */
const HARD_TURN = 'c1';

const defects = readDefects({ ...SETTLEMENT_DEFECTS, ...DELIVERY_DEFECTS, ...RUN_DEFECTS });

function brokenBy(history: Events, options?: CheckOptions): string[] {
  return [...new Set(checkHistory(history, options).violations.map(({ rule }) => rule))].sort();
}

function expectLegal(history: Events): void {
  const report = checkHistory(history);
  expect(report.ok, formatReport(report)).toBe(true);
}

/** Plants in a history that must have a place for the defect. */
function planted(plant: Plant, history = LEGAL, subject = HARD_TURN): HistoryEvent[] {
  const changed = plant(history, subject);
  if (changed === undefined) throw new Error('The history has no place for the defect.');
  return changed;
}

/** Mixes the parts of a history, such as its connections and its conversations; each keeps its own order. */
function interleave(events: Events, picks: readonly number[]): HistoryEvent[] {
  const partOf = (event: HistoryEvent) =>
    conversationOf(event) ?? ('connectionId' in event ? event.connectionId : event.type);
  const parts = groupBy(events, partOf).map(([, part]) => part);
  const out: HistoryEvent[] = [];
  for (let at = 0; out.length < events.length; at += 1) {
    const open = parts.filter((part) => part.length > 0);
    const next = open[(picks[at % picks.length] ?? 0) % open.length]?.shift();
    if (next !== undefined) out.push(next);
  }
  return out;
}

const turn = fc.record({
  deaths: fc.subarray([...DEATHS]),
  late: fc.boolean(),
  lostReply: fc.boolean(),
  choice: fc.constantFrom('approve' as const, 'edit' as const, 'deny' as const),
});

describe('a legal history', () => {
  it('passes, and the report counts what was judged', () => {
    const { ok, counts } = checkHistory(LEGAL);
    expect(ok).toBe(true);
    expect(counts).toMatchObject({
      asks: 6,
      acked: 6,
      responds: 8,
      unknown: 1,
      finals: { accepted: 3, expired: 1, withdrawn: 1, declined: 1 },
      waits: 2,
      reads: 4,
      events: 13,
      connections: 3,
      faults: 1,
      resourcePairs: 2,
      conversations: 2,
      kills: DEATHS.length,
      takenOver: 1,
      takeOvers: DEATHS.length,
      refusedWrites: DEATHS.length,
      unknownOutcomes: 1,
      repeatedCalls: 1,
      restartedSteps: 2,
      decidedCalls: 2,
      readings: 2 + DEATHS.length,
      cutReadings: DEATHS.length,
    });
  });

  it('passes wherever pods die, and gets the same verdict in any order of what carries no order', () => {
    const wrong = push('c3', 9, 'el_bob', 'declined', 3_000);
    const picks = fc.array(fc.nat(20), { minLength: 1 });
    fc.assert(
      fc.property(
        fc.array(turn, { minLength: 1, maxLength: 4 }),
        picks,
        fc.boolean(),
        (plan, order, isWrong) => {
          const history = [...LEGAL_HISTORY, ...(isWrong ? [wrong] : []), ...simulateRuns(plan)];
          expect(brokenBy(interleave(history, order))).toEqual(isWrong ? ['I12'] : []);
        },
      ),
      { numRuns: 50 },
    );
  });

  it.each(Object.entries({ ...UNKNOWN_OUTCOMES, ...LEGAL_ODDITIES }))('passes with %s', (_, plant) =>
    expectLegal(planted(plant)),
  );

  it('may have gaps in feeds that carry other events too, unless a connection received the missing event', () => {
    const sparse = { sparseFeeds: true };
    const lacking = planted(remove({ eventId: 's2a-3' }));
    expect(brokenBy(lacking)).toEqual(['I12']);
    expect(brokenBy(lacking, sparse)).toEqual([]);
    const witness = { ...push('c3', 3, 'el_page', 'pending', 2_412), connectionId: 'c5' };
    expect(brokenBy([...lacking, witness], sparse)).toEqual(['I12']);
  });
});

describe('a planted defect', () => {
  it('exists for every rule', () => {
    expect(new Set(defects.map(({ breaks }) => breaks))).toEqual(new Set(RULE_NAMES));
  });

  it.each(defects)('breaks the rules of its name, and no other: $name', ({ plant, breaks, breaksAll }) => {
    const changed = planted(plant);
    const report = checkHistory(changed);
    expect(brokenBy(changed), formatReport(report)).toEqual(breaksAll);
    if (breaks.startsWith('R')) for (const { subject } of report.violations) expect(subject).toBe(HARD_TURN);
  });
});

describe('a report', () => {
  it('counts apart what an exception names, and excuses nothing else', () => {
    const run = planted(remove({ type: 'final', elicitationId: 'el_form' }));
    const report = checkHistory(run, { allow: ['I1', 'I4', 'I9'] });
    expect(report).toMatchObject({ ok: true, violations: [], allowed: [{ rule: 'I1', subject: 'el_form' }] });
    expect(formatReport(report)).toContain('allowed I1 x1');
    expect(checkHistory(run, { allow: ['I4'] }).ok).toBe(false);
  });

  it('contains no answer, and only the first few of many violations', () => {
    const wrong = Array.from({ length: 30 }, (_, index) =>
      end(`el_${index}`, 'accepted', 100, { content: red }),
    );
    const text = formatReport(checkHistory(planted(add(...wrong))));
    expect(text).toMatch(/violated I5 x30[\s\S]*and 20 more/);
    expect(text).not.toContain('colour');
  });

  it('uses the given limits', () => {
    const run = planted(change({ label: 'after', source: 'pod' }, { liveBytes: 180e6 }));
    expect(brokenBy(run)).toEqual(['I15']);
    expect(brokenBy(run, { resourceFactors: { liveBytes: 2, handles: 1, sockets: 1 } })).toEqual([]);
  });

  it('shows that nothing was checked', () => {
    const report = checkHistory([]);
    expect(report).toMatchObject({ ok: true, counts: { conversations: 0 } });
    expect(formatReport(report)).toContain('seen: nothing');
  });
});

describe('the longest refusal', () => {
  const ask = (idempotencyKey: string, startedAt: number, httpStatus: number): HistoryEvent => ({
    ...{ type: 'ask', mode: 'form', owner: { tenant: 'acme', userId: 'ada' }, idempotencyKey, httpStatus },
    ...{ startedAt, at: startedAt + 5 },
  });
  const attempts = [
    ask('a', 0, 201),
    ask('b', 10, 503),
    ask('c', 12, 0),
    ask('b', 80, 201),
    ask('c', 90, 409),
  ];

  it.each<[ms: number, events: Events, outages: readonly Outage[]]>([
    [0, attempts.slice(0, 1), []],
    [83, attempts, []],
    [15, attempts, [{ from: 5, to: 80 }]],
    [83, attempts, [{ from: 100, to: 200 }]],
    // One that never ends is a refusal, too.
    [75, [ask('b', 10, 503), ask('b', 80, 503)], []],
  ])('is %d ms', (ms, events, outages) => {
    expect(longestRefusalMs(events, outages)).toBe(ms);
  });
});
