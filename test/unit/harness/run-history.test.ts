import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkRuns, formatRunReport } from '../../harness/run-history/check-runs.ts';
import type { RunEvent } from '../../harness/run-history/events.ts';
import { RUN_RULES } from '../../harness/run-history/rules.ts';
import { RUN_DEFECTS } from '../../harness/run-history/run-defects.ts';
import { runDefectsIn } from '../../harness/run-history/run-planting.ts';
import { DEATHS, type SimulatedTurn, simulateRuns } from '../../harness/run-history/simulate-runs.ts';

const defects = runDefectsIn(RUN_DEFECTS);

const smooth: SimulatedTurn = { deaths: [], late: false, lostReply: false };
const hard: SimulatedTurn = { deaths: DEATHS, late: true, lostReply: true };

const turns = fc.array(
  fc.record({ deaths: fc.subarray([...DEATHS]), late: fc.boolean(), lostReply: fc.boolean() }),
  { minLength: 1, maxLength: 6 },
);

function brokenBy(events: readonly RunEvent[]): string[] {
  return [...new Set(checkRuns(events).violations.map(({ rule }) => rule))].sort();
}

/** The conversations of a history, mingled as they go on side by side. */
function mingled(events: readonly RunEvent[], picks: readonly number[]): RunEvent[] {
  const lines = new Map<string, RunEvent[]>();
  for (const event of events) {
    const line = 'conversation' in event ? event.conversation : 'kills';
    lines.set(line, [...(lines.get(line) ?? []), event]);
  }
  const out: RunEvent[] = [];
  for (let at = 0; out.length < events.length; at += 1) {
    const open = [...lines.values()].filter((line) => line.length > 0);
    const next = open[(picks[at % picks.length] ?? 0) % open.length]?.shift();
    if (next !== undefined) out.push(next);
  }
  return out;
}

describe('a legal history of runs', () => {
  it('passes when nothing went wrong, and when each pod died where it could', () => {
    const report = checkRuns(simulateRuns([smooth, hard]));
    expect(report.ok, formatRunReport(report)).toBe(true);
    expect(report.counts).toMatchObject({
      conversations: 2,
      kills: DEATHS.length,
      takenOver: 1,
      takeOvers: DEATHS.length,
      refusedWrites: DEATHS.length,
      unknownOutcomes: 1,
      repeatedCalls: 1,
      restartedSteps: 2,
      readings: 2 + DEATHS.length,
      cutReadings: DEATHS.length,
    });
  });

  it('passes wherever pods die, and however conversations mingle', () => {
    fc.assert(
      fc.property(turns, fc.array(fc.nat(20), { minLength: 1 }), (plan, picks) => {
        const report = checkRuns(mingled(simulateRuns(plan), picks));
        expect(report.ok, formatRunReport(report)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

describe('a planted defect of a run', () => {
  it('exists for every rule', () => {
    expect(new Set(Object.keys(RUN_DEFECTS).map((name) => name.split(/[ :]/)[0]))).toEqual(
      new Set(RUN_RULES),
    );
  });

  it.each(defects)('$name', ({ plant, breaks }) => {
    const run = plant(simulateRuns([smooth, hard]), 'c1') ?? [];
    expect(brokenBy(run), formatRunReport(checkRuns(run))).toEqual(breaks);
    for (const { conversation } of checkRuns(run).violations) expect(conversation).toBe('c1');
  });

  it.each(defects)('is found wherever pods die: $name', ({ plant, breaks }) => {
    let planted = 0;
    const findsIt = fc.property(turns, fc.nat(5), (plan, pick) => {
      const run = plant(simulateRuns(plan), `c${pick % plan.length}`);
      if (run === undefined) return;
      planted += 1;
      expect(brokenBy(run)).toEqual(expect.arrayContaining([breaks[0]]));
    });
    fc.assert(findsIt, { numRuns: 30 });
    expect(planted).toBeGreaterThan(0);
  });
});

describe('a report on runs', () => {
  it('names what is broken, and no more than the first few of many', () => {
    const run = Array.from({ length: 30 }, (_, at) => `c${at}`).reduce(
      (events, name) => RUN_DEFECTS['R13: it stays in an index']?.(events, name) ?? [],
      simulateRuns(Array.from({ length: 30 }, () => smooth)),
    );
    const text = formatRunReport(checkRuns(run));
    expect(text).toMatch(/violated R13 x30[\s\S]*and 20 more/);
  });

  it('has nothing against an empty history, and says that nothing was looked at', () => {
    expect(checkRuns([])).toMatchObject({ ok: true, counts: { conversations: 0 } });
  });
});
