import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CheckOptions, checkHistory } from '../../harness/history/check-history.ts';
import {
  type Action,
  type ElicitationStatus,
  type FinalEvent,
  type HistoryEvent,
  ofType,
  type RespondEvent,
} from '../../harness/history/events.ts';
import { DELIVERY_DEFECTS } from '../../harness/history/planting/delivery-defects.ts';
import {
  end,
  LEGAL_HISTORY,
  push,
  read,
  red,
  respond,
  wait,
} from '../../harness/history/planting/legal-history.ts';
import { LEGAL_ODDITIES, UNKNOWN_OUTCOMES } from '../../harness/history/planting/legal-oddities.ts';
import { add, change, type Plant, readDefects, remove } from '../../harness/history/planting/plant.ts';
import { SETTLEMENT_DEFECTS } from '../../harness/history/planting/settlement-defects.ts';
import { createHistory, historyFromJsonl } from '../../harness/history/recorder.ts';
import { RULE_NAMES, type RuleName } from '../../harness/history/registry.ts';
import { formatReport } from '../../harness/history/report.ts';
import {
  CALLERS,
  FATES,
  OPERATIONS,
  type Step,
  simulateClients,
} from '../../harness/history/simulation/clients.ts';
import {
  brokenBy,
  expectLegal,
  itFindsEach,
  itFindsEachAnywhere,
  planted,
  type Simulation,
} from './history-driver.ts';

const defects = readDefects({ ...SETTLEMENT_DEFECTS, ...DELIVERY_DEFECTS });

/** No tolerance: what the simulated store does is exact. */
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

const simulation: Simulation<Step[]> = {
  plans: steps,
  simulate: simulateClients,
  subjectOf: (history) => ofType(history, 'final').at(-1)?.elicitationId,
  options: exact,
};

const onLegal = (plant: Plant) => planted(plant, LEGAL_HISTORY);

/** Defects for the last elicitation of any history. */
const LAST_DEFECTS: Readonly<
  Record<string, (final: FinalEvent, run: readonly HistoryEvent[]) => HistoryEvent[]>
> = {
  I1: (final, run) => run.filter((event) => event !== final),
  I2: (final, run) => [...run, read(final.elicitationId, final.at, otherEnd(final), { by: final.owner })],
  I3: (final, run) => [...run, ack(final, 'decline'), ack(final, 'cancel')],
  I4: (final, run) => [...run, ack(final, final.status === 'declined' ? 'cancel' : 'decline')],
  I5: (final, run) => [
    ...run,
    { ...final, status: 'accepted', action: 'accept', content: { never: 'sent' } },
  ],
  I6: (final, run) => [...run, wait(final.elicitationId, final.at, { deadlineMs: 10 })],
  I7: (final, run) => [...run, { ...final, status: 'expired', settledAt: final.expiresAt - 1 }],
  I8: (final, run) => [...run, { ...final, status: 'declined', settledAt: final.expiresAt + 1 }],
  I9: (final, run) => [...run, read(final.elicitationId, final.at + 100, 'pending', { by: final.owner })],
  I10: (final, run) => [...run, respond(final.elicitationId, 'rx', final.at, {})],
  I11: (final, run) => [...run, read(final.elicitationId, final.at, final.status)],
  I13: (final, run) => [...run, ack(final, 'decline'), { ...ack(final, 'decline'), httpStatus: 409 }],
  I16: (final, run) => run.map((event) => (event === final ? { ...final, settledAt: undefined } : event)),
};

function ack({ elicitationId, owner, at }: FinalEvent, action: Action): RespondEvent {
  return respond(elicitationId, 'rx', at, { by: owner, action });
}

const lastDefects = Object.entries(LAST_DEFECTS).map(([name, changeLast]) => {
  const plant: Plant = (history) => {
    const final = ofType(history, 'final').at(-1);
    return final && changeLast(final, history);
  };
  return { name, breaks: name as RuleName, plant };
});

function otherEnd({ status }: FinalEvent): ElicitationStatus {
  return status === 'cancelled' ? 'declined' : 'cancelled';
}

describe('a legal run', () => {
  it('passes when written out by hand', () => {
    expect(formatReport(checkHistory(LEGAL_HISTORY))).toContain('history: ok, 0 violations, 0 allowed');
  });

  it('passes however clients race, lose replies, reconnect and answer too late', () => {
    fc.assert(
      fc.property(steps, (plan) => expectLegal(simulateClients(plan), exact)),
      { numRuns: 200 },
    );
  });

  it('gets the same verdict in any order of the client records', () => {
    fc.assert(
      fc.property(steps, fc.boolean(), (plan, defect) => {
        const wrong = [...LEGAL_HISTORY, push('c3', 9, 'el_bob', 'declined', 3_000)];
        const run = [...simulateClients(plan), ...(defect ? wrong : [])];
        const groupOf = (event: HistoryEvent) => ('connectionId' in event ? event.connectionId : event.type);
        // Each connection keeps its own order; everything else is sorted again.
        const shuffled = run.toSorted((left, right) => groupOf(left).localeCompare(groupOf(right)));
        expect(brokenBy(shuffled, exact)).toEqual(brokenBy(run, exact));
      }),
      { numRuns: 30 },
    );
  });
});

describe('a planted defect', () => {
  it('exists for every rule', () => {
    const rules = RULE_NAMES.filter((name) => name.startsWith('I'));
    expect(new Set(defects.map(({ breaks }) => breaks))).toEqual(new Set(rules));
  });

  itFindsEach(defects, LEGAL_HISTORY);
  itFindsEachAnywhere(lastDefects, simulation);
});

describe('an unknown outcome', () => {
  it.each(Object.entries(UNKNOWN_OUTCOMES))('%s', (_, plant) => expectLegal(onLegal(plant)));
});

describe('allowed behaviour', () => {
  it.each(Object.entries(LEGAL_ODDITIES))('%s', (_, plant) => expectLegal(onLegal(plant)));

  it('allows gaps in feeds that carry other events too, unless a connection received the missing event', () => {
    const sparse = { sparseFeeds: true };
    const lacking = onLegal(remove({ eventId: 's2a-3' }));
    expect(brokenBy(lacking)).toEqual(['I12']);
    expect(brokenBy(lacking, sparse)).toEqual([]);
    const witness = { ...push('c3', 3, 'el_page', 'pending', 2_412), connectionId: 'c5' };
    expect(brokenBy([...lacking, witness], sparse)).toEqual(['I12']);
  });
});

describe('a report', () => {
  it('counts violations that an exception covers', () => {
    const run = onLegal(remove({ type: 'final', elicitationId: 'el_form' }));
    const report = checkHistory(run, { allow: ['I1', 'I4', 'I9'] });
    expect(report).toMatchObject({
      ok: true,
      violations: [],
      allowed: [{ rule: 'I1', subject: 'el_form' }],
    });
    expect(formatReport(report)).toContain('allowed I1 x1');
  });

  it('does not excuse violations that the exception does not name', () => {
    expect(
      checkHistory(onLegal(remove({ type: 'final', elicitationId: 'el_form' })), { allow: ['I4'] }).ok,
    ).toBe(false);
  });

  it('counts the checked items', () => {
    expect(checkHistory(LEGAL_HISTORY).counts).toMatchObject({
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

  it('contains no answer, and only the first few of many violations', () => {
    const wrong = Array.from({ length: 30 }, (_, index) =>
      end(`el_${index}`, 'accepted', 100, { content: red }),
    );
    const text = formatReport(checkHistory(onLegal(add(...wrong))));
    expect(text).toMatch(/violated I5 x30[\s\S]*and 20 more/);
    expect(text).not.toContain('colour');
  });

  it('uses the given limits', () => {
    const run = onLegal(change({ label: 'after', source: 'pod' }, { liveBytes: 180e6 }));
    expect(brokenBy(run)).toEqual(['I15']);
    expect(brokenBy(run, { resourceFactors: { liveBytes: 2 } })).toEqual([]);
  });
});

describe('a recorder', () => {
  it('writes lines that read back as the same run', () => {
    const history = createHistory();
    for (const event of LEGAL_HISTORY) history.record(event);
    const lines = history.toJsonl();
    expect(lines.split('\n')).toHaveLength(LEGAL_HISTORY.length + 1);
    expect(checkHistory(historyFromJsonl(lines))).toEqual(checkHistory(history.events));
  });
});
