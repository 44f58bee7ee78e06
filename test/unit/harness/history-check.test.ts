import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CheckOptions, checkHistory } from '../../harness/history/check-history.ts';
import { defectsOfCourse } from '../../harness/history/defects-of-course.ts';
import { defectsOfOutcome } from '../../harness/history/defects-of-outcome.ts';
import type {
  Action,
  ElicitationStatus,
  FinalEvent,
  HistoryEvent,
  RespondEvent,
} from '../../harness/history/events.ts';
import { oddButLegal, unknownOutcomes } from '../../harness/history/harmless-runs.ts';
import { answered, ended, legalRun, looked, pushed, red, waited } from '../../harness/history/legal-run.ts';
import { adding, changed, defectsIn, lacking } from '../../harness/history/planting.ts';
import { createHistory, historyFromJsonl } from '../../harness/history/recorder.ts';
import { formatReport } from '../../harness/history/report.ts';
import { INVARIANTS } from '../../harness/history/rules.ts';
import { CALLERS, FATES, OPERATIONS, simulate } from '../../harness/history/simulate.ts';

const defects = defectsIn({ ...defectsOfOutcome, ...defectsOfCourse });

/** No slack at all: what the tiny store does is exact. */
const exact: CheckOptions = { graceMs: 0, toleranceMs: 0 };

const steps = fc.array(
  fc.record({
    op: fc.constantFrom(
      ...OPERATIONS,
      'ask' as const,
      'respond' as const,
      'respond' as const,
      'read' as const,
    ),
    gapMs: fc.nat(60),
    target: fc.nat(50),
    pick: fc.nat(100),
    fate: fc.constantFrom('reply-seen' as const, 'reply-seen' as const, 'reply-seen' as const, ...FATES),
    who: fc.constantFrom('owner' as const, 'owner' as const, 'owner' as const, ...CALLERS),
  }),
  { maxLength: 80, size: 'max' },
);

function brokenBy(events: readonly HistoryEvent[], options?: CheckOptions): string[] {
  return [...new Set(checkHistory(events, options).violations.map(({ invariant }) => invariant))].sort();
}

type Plant = (run: readonly HistoryEvent[], final: FinalEvent) => HistoryEvent[];

/** Wrongs that can be done to the last elicitation of any run. */
const plants: Readonly<Record<string, Plant>> = {
  I1: (run, final) => run.filter((event) => event !== final),
  I2: (run, final) => [...run, looked(final.elicitationId, final.at, otherEnd(final), { by: final.owner })],
  I3: (run, final) => [...run, ack(final, 'decline'), ack(final, 'cancel')],
  I4: (run, final) => [...run, ack(final, final.status === 'declined' ? 'cancel' : 'decline')],
  I5: (run, final) => [
    ...run,
    { ...final, status: 'accepted', action: 'accept', content: { never: 'sent' } },
  ],
  I6: (run, final) => [...run, waited(final.elicitationId, final.at, { deadlineMs: 10 })],
  I7: (run, final) => [...run, { ...final, status: 'expired', settledAt: final.expiresAt - 1 }],
  I8: (run, final) => [...run, { ...final, status: 'declined', settledAt: final.expiresAt + 1 }],
  I9: (run, final) => [...run, looked(final.elicitationId, final.at + 100, 'pending', { by: final.owner })],
  I10: (run, final) => [...run, answered(final.elicitationId, 'rx', final.at, {})],
  I11: (run, final) => [...run, looked(final.elicitationId, final.at, final.status)],
  I13: (run, final) => [...run, ack(final, 'decline'), { ...ack(final, 'decline'), httpStatus: 409 }],
  I16: (run, final) => run.map((event) => (event === final ? { ...final, settledAt: undefined } : event)),
};

function ack({ elicitationId, owner, at }: FinalEvent, action: Action): RespondEvent {
  return answered(elicitationId, 'rx', at, { by: owner, action });
}

function otherEnd({ status }: FinalEvent): ElicitationStatus {
  return status === 'cancelled' ? 'declined' : 'cancelled';
}

describe('a legal run', () => {
  it('passes when written out by hand', () => {
    expect(formatReport(checkHistory(legalRun))).toContain('history: ok, 0 violations, 0 allowed');
  });

  it('passes however clients race, lose replies, reconnect and come too late', () => {
    fc.assert(
      fc.property(steps, (plan) => {
        const report = checkHistory(simulate(plan), exact);
        expect(report.ok, formatReport(report)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('is judged the same in whatever order the clients wrote it down', () => {
    fc.assert(
      fc.property(steps, fc.boolean(), (plan, defect) => {
        const run = [
          ...simulate(plan),
          ...(defect ? adding(pushed('c3', 9, 'el_bob', 'declined', 3_000)) : []),
        ];
        const groupOf = (event: HistoryEvent) => ('connectionId' in event ? event.connectionId : event.type);
        // Each connection keeps its own order, everything else is sorted anew.
        const shuffled = run.toSorted((left, right) => groupOf(left).localeCompare(groupOf(right)));
        expect(brokenBy(shuffled, exact)).toEqual(brokenBy(run, exact));
      }),
      { numRuns: 30 },
    );
  });
});

describe('a planted defect', () => {
  it('exists for every invariant', () => {
    expect(new Set(defects.map(({ breaks }) => breaks))).toEqual(new Set(INVARIANTS));
  });

  it.each(defects)('$name', ({ breaks, also, run }) => {
    expect(brokenBy(run), formatReport(checkHistory(run))).toEqual([breaks, ...also].sort());
  });

  it.each(Object.entries(plants))('is found among everything else that goes on: %s', (invariant, plant) => {
    let planted = 0;
    const findsIt = fc.property(steps, (plan) => {
      const run = simulate(plan);
      const final = run.findLast((event) => event.type === 'final');
      if (!final) return;
      planted += 1;
      expect(brokenBy(plant(run, final), exact)).toContain(invariant);
    });
    fc.assert(findsIt, { numRuns: 30 });
    expect(planted).toBeGreaterThan(0);
  });
});

describe('an unknown outcome', () => {
  it.each(Object.entries(unknownOutcomes))('%s', (_, run) => {
    const report = checkHistory(run);
    expect(report.ok, formatReport(report)).toBe(true);
  });
});

describe('what may happen', () => {
  it.each(Object.entries(oddButLegal))('%s', (_, run) => {
    const report = checkHistory(run);
    expect(report.ok, formatReport(report)).toBe(true);
  });

  it('leaves gaps to feeds that carry other events too, unless somebody saw what is missing', () => {
    const sparse = { sparseFeeds: true };
    expect(brokenBy(lacking({ eventId: 's2a-3' }))).toEqual(['I12']);
    expect(brokenBy(lacking({ eventId: 's2a-3' }), sparse)).toEqual([]);
    const witness = { ...pushed('c3', 3, 'el_page', 'pending', 2_412), connectionId: 'c5' };
    expect(brokenBy([...lacking({ eventId: 's2a-3' }), witness], sparse)).toEqual(['I12']);
  });
});

describe('a report', () => {
  it('counts what an exception covers instead of dropping it', () => {
    const run = lacking({ type: 'final', elicitationId: 'el_form' });
    const report = checkHistory(run, { allow: ['I1', 'I4', 'I9'] });
    expect(report).toMatchObject({
      ok: true,
      violations: [],
      allowed: [{ invariant: 'I1', elicitationId: 'el_form' }],
    });
    expect(formatReport(report)).toContain('allowed I1 x1');
  });

  it('does not excuse what the exception does not name', () => {
    expect(checkHistory(lacking({ type: 'final', elicitationId: 'el_form' }), { allow: ['I4'] }).ok).toBe(
      false,
    );
  });

  it('counts what it looked at', () => {
    expect(checkHistory(legalRun).counts).toEqual({
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
    });
  });

  it('shows no answer, and no more than the first few of many', () => {
    const wrong = Array.from({ length: 30 }, (_, index) =>
      ended(`el_${index}`, 'accepted', 100, { content: red }),
    );
    const text = formatReport(checkHistory(adding(...wrong)));
    expect(text).toMatch(/violated I5 x30[\s\S]*and 20 more/);
    expect(text).not.toContain('colour');
  });

  it('takes the limits it is given', () => {
    const run = changed({ label: 'after', source: 'pod' }, { liveBytes: 180e6 });
    expect(brokenBy(run)).toEqual(['I15']);
    expect(brokenBy(run, { resourceFactors: { liveBytes: 2 } })).toEqual([]);
  });
});

describe('a recorder', () => {
  it('writes lines that read back as the same run', () => {
    const history = createHistory();
    for (const event of legalRun) history.record(event);
    const lines = history.toJsonl();
    expect(lines.split('\n')).toHaveLength(legalRun.length + 1);
    expect(checkHistory(historyFromJsonl(lines))).toEqual(checkHistory(history.events));
  });
});
