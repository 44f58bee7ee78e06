import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkHistory } from '../../harness/history/check-history.ts';
import type { HistoryEvent } from '../../harness/history/events.ts';
import { conversationOf, groupBy } from '../../harness/history/index-history.ts';
import { readDefects } from '../../harness/history/planting/plant.ts';
import { RUN_DEFECTS } from '../../harness/history/planting/run-defects.ts';
import { RULE_NAMES } from '../../harness/history/registry.ts';
import { formatReport } from '../../harness/history/report.ts';
import { DEATHS, type SimulatedTurn, simulateRuns } from '../../harness/history/simulation/turns.ts';
import { expectLegal, itFindsEach, itFindsEachAnywhere, type Simulation } from './history-driver.ts';

const defects = readDefects(RUN_DEFECTS);

const smooth: SimulatedTurn = { deaths: [], late: false, lostReply: false, choice: 'deny' };
const hard: SimulatedTurn = { deaths: DEATHS, late: true, lostReply: true, choice: 'edit' };

const turn = fc.record({
  deaths: fc.subarray([...DEATHS]),
  late: fc.boolean(),
  lostReply: fc.boolean(),
  choice: fc.constantFrom('approve' as const, 'edit' as const, 'deny' as const),
});
const simulation: Simulation<SimulatedTurn[]> = {
  plans: fc.array(turn, { minLength: 1, maxLength: 6 }),
  simulate: simulateRuns,
  subjectOf: (history, pick) => {
    const conversations = groupBy(history, conversationOf);
    return conversations[pick % conversations.length]?.[0];
  },
};

/** Interleaves the conversations of a history; each keeps its own order. */
function interleave(events: readonly HistoryEvent[], picks: readonly number[]): HistoryEvent[] {
  const lines = groupBy(events, (event) => conversationOf(event) ?? 'kills').map(([, line]) => line);
  const out: HistoryEvent[] = [];
  for (let at = 0; out.length < events.length; at += 1) {
    const open = lines.filter((line) => line.length > 0);
    const next = open[(picks[at % picks.length] ?? 0) % open.length]?.shift();
    if (next !== undefined) out.push(next);
  }
  return out;
}

describe('a legal history of runs', () => {
  it('passes without faults, and with a death of each pod at each possible point', () => {
    const report = checkHistory(simulateRuns([smooth, hard]));
    expect(report.ok, formatReport(report)).toBe(true);
    expect(report.counts).toMatchObject({
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

  it('passes wherever pods die, and however conversations interleave', () => {
    fc.assert(
      fc.property(simulation.plans, fc.array(fc.nat(20), { minLength: 1 }), (plan, picks) =>
        expectLegal(interleave(simulateRuns(plan), picks)),
      ),
      { numRuns: 100 },
    );
  });
});

describe('a planted defect of a run', () => {
  it('exists for every rule', () => {
    const rules = RULE_NAMES.filter((name) => name.startsWith('R'));
    expect(new Set(defects.map(({ breaks }) => breaks))).toEqual(new Set(rules));
  });

  itFindsEach(defects, simulateRuns([smooth, hard]), 'c1');
  itFindsEachAnywhere(defects, simulation);
});

describe('a report on runs', () => {
  it('names the broken rule, and only the first few of many violations', () => {
    const history = Array.from({ length: 30 }, (_, at) => `c${at}`).reduce<readonly HistoryEvent[]>(
      (events, name) => RUN_DEFECTS['R13: it stays in an index']?.(events, name) ?? [],
      simulateRuns(Array.from({ length: 30 }, () => smooth)),
    );
    expect(formatReport(checkHistory(history))).toMatch(/violated R13 x30[\s\S]*and 20 more/);
  });

  it('accepts an empty history, and shows that nothing was checked', () => {
    const report = checkHistory([]);
    expect(report).toMatchObject({ ok: true, counts: { conversations: 0 } });
    expect(formatReport(report)).toContain('seen: nothing');
  });
});
