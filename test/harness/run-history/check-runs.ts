import { answersAreUsed, effectsOnce, outcomesAreTrue, questionsOnce } from './check-effects.ts';
import { lateWritesAreRefused, oneOwnerPerTerm, onlyTheOwnerWrites, termsRise } from './check-ownership.ts';
import { finishesOnce, nothingIsLeft, readInOrder, remembersWhatWasTold, toldWhole } from './check-told.ts';
import type { RunEvent } from './events.ts';
import { type IndexedRuns, indexRuns, standingOf } from './index-runs.ts';
import { RUN_RULES, type RunRule, type RunRuleName } from './rules.ts';

const RULES: Readonly<Record<RunRuleName, RunRule>> = {
  R1: finishesOnce,
  R2: toldWhole,
  R3: effectsOnce,
  R4: outcomesAreTrue,
  R5: questionsOnce,
  R6: answersAreUsed,
  R7: termsRise,
  R8: oneOwnerPerTerm,
  R9: lateWritesAreRefused,
  R10: onlyTheOwnerWrites,
  R11: readInOrder,
  R12: remembersWhatWasTold,
  R13: nothingIsLeft,
};

export type RunViolation = {
  readonly rule: RunRuleName;
  readonly conversation: string;
  readonly message: string;
};

/** How much was looked at; a verdict on an empty history is worth nothing, so callers hold these against a floor. */
export type RunCounts = {
  readonly conversations: number;
  readonly kills: number;
  /** Conversations that had more than one owner, and by how many owners more in all. */
  readonly takenOver: number;
  readonly takeOvers: number;
  /** Writes that were refused, or changed nothing when they came again. */
  readonly refusedWrites: number;
  /** Calls with an effect whose outcome the model was told to be unknown. */
  readonly unknownOutcomes: number;
  /** Harmless calls that were made again. */
  readonly repeatedCalls: number;
  readonly restartedSteps: number;
  readonly readings: number;
  readonly cutReadings: number;
};

export type RunReport = {
  readonly ok: boolean;
  readonly violations: readonly RunViolation[];
  readonly counts: RunCounts;
};

const SHOWN_PER_RULE = 10;

/**
 * Judges what was seen of agents' turns by all of RUN_RULES, in time linear in the number of events. All must be quiet
 * at the end, with one `final` per conversation. Never throws on a bad history.
 */
export function checkRuns(events: readonly RunEvent[]): RunReport {
  const history = indexRuns(events);
  const violations = RUN_RULES.flatMap((rule) =>
    history.dossiers.flatMap((dossier) =>
      [...RULES[rule](dossier)].map((message) => ({ rule, conversation: dossier.conversation, message })),
    ),
  );
  return { ok: violations.length === 0, violations, counts: countRuns(history) };
}

function countRuns({ dossiers, kills }: IndexedRuns): RunCounts {
  const owners = dossiers.map(({ done }) => done.filter(({ type }) => type === 'term').length);
  const feeds = dossiers.flatMap(({ finals }) => finals.map(({ feed }) => feed));
  const readings = dossiers.flatMap((dossier) => [...dossier.readings.values()]);
  const repeats = dossiers.map(({ calls }) => calls.length - new Set(calls.map(({ call }) => call)).size);
  return {
    conversations: dossiers.length,
    kills: kills.length,
    takenOver: owners.filter((count) => count > 1).length,
    takeOvers: owners.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
    refusedWrites: dossiers.flatMap(({ done }) =>
      done.filter((event) => event.type === 'write' && !event.accepted),
    ).length,
    unknownOutcomes: feeds.flatMap((feed) => standingOf(feed).filter(({ outcome }) => outcome === 'unknown'))
      .length,
    repeatedCalls: repeats.reduce((sum, count) => sum + count, 0),
    restartedSteps: feeds.flatMap((feed) => feed.filter(({ name }) => name === 'step-restarted')).length,
    readings: readings.length,
    cutReadings: readings.filter(({ clean }) => clean === false).length,
  };
}

/** Lines for a person: the verdict, what was looked at, and the first breaches of each rule. */
export function formatRunReport({ ok, violations, counts }: RunReport): string {
  const seen = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return [
    `runs: ${ok ? 'ok' : 'VIOLATED'}, ${violations.length} violations`,
    `  seen: ${seen.join(', ')}`,
    ...RUN_RULES.flatMap((rule) => {
      const broken = violations.filter((one) => one.rule === rule);
      const shown = broken
        .slice(0, SHOWN_PER_RULE)
        .map(({ conversation, message }) => `    ${conversation}: ${message}`);
      const more = broken.length - shown.length;
      return [
        ...(broken.length > 0 ? [`  violated ${rule} x${broken.length}`] : []),
        ...shown,
        ...(more > 0 ? [`    and ${more} more`] : []),
      ];
    }),
  ].join('\n');
}
