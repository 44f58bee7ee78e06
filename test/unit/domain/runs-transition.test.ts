import type { RunCommand, RunCommandType, RunControl } from '@parley/shared/domain/runs/commands';
import { DETACHED, UNOWNED } from '@parley/shared/domain/runs/run';
import { RUN_STATES, RUN_TRANSITIONS, stateOf, transitionRun } from '@parley/shared/domain/runs/transition';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sized } from '../../harness/proof-size.ts';
import {
  RUN_CELLS,
  RUN_COLUMNS,
  RUN_FROMS,
  type RunColumn,
  type RunFrom,
} from '../../harness/tables/run-transitions.ts';

type AnyCommand = { [Type in RunCommandType]: RunCommand<Type> }[RunCommandType];

const REQUEST = { digest: 'digest', nonce: 'nonce' };
const BYTES_MAX = 1_000;
const BASE: RunControl = {
  conversationId: 'talk',
  status: 'running',
  owner: 'pod-a',
  term: 4,
  deaths: 2,
  takeOvers: 3,
  stepsAtDeath: 1,
  writerSeq: 7,
  bytes: 100,
  writes: 3,
  stopRequested: false,
  wasDetached: false,
  request: REQUEST,
};

function controlIn(from: RunFrom): RunControl | undefined {
  const [state, stop] = from.split('-');
  if (state === 'absent') return undefined;
  const owner = { queued: UNOWNED, detached: DETACHED }[state as string] ?? 'pod-a';
  const status = state === 'ended' ? 'finished' : 'running';
  return { ...BASE, owner, status, stopRequested: stop !== undefined };
}

/** The command of a row of the table, for a run in that state. */
function commandFor(column: RunColumn, from: RunFrom): AnyCommand {
  const { owner, term, writes, writerSeq } = controlIn(from) ?? BASE;
  const [type, variant] = column.split(', ') as [RunCommandType, string | undefined];
  const oldTerm = variant === 'old term' ? 1 : 0;
  const repeated = {
    term: term - oldTerm,
    number: variant === 'late copy' ? writes - 1 : writes,
    firstSeq: writerSeq,
    eventBytes: [10],
    noteCount: 1,
  };
  const next = {
    ...repeated,
    number: variant === 'late copy' ? writes - 1 : writes + 1,
    firstSeq: writerSeq + (variant === 'gap' ? 2 : 1),
  };
  switch (type) {
    case 'begin':
      return beginFor(variant, owner);
    case 'write':
      if (variant === 'again') return { type, ...repeated, bytesMax: BYTES_MAX };
      if (variant === 'empty') return { type, ...next, eventBytes: [], noteCount: 0, bytesMax: BYTES_MAX };
      return { type, ...next, bytesMax: variant === 'too large' ? 105 : BYTES_MAX };
    case 'detach':
      return { type, ...next, waitEnded: variant === 'wait ended' };
    case 'end':
      return {
        type,
        ...next,
        firstSeq: variant === 'more events' || variant === 'gap' ? next.firstSeq : writerSeq,
        status: variant === 'other status' ? 'failed' : 'finished',
      };
    case 'stop':
      return { type };
    case 'claim':
      return {
        type,
        term: namedTerm(variant, term),
        owner: variant === 'again' && owner === 'pod-a' ? owner : 'pod-b',
        diedSoon: true,
        steps: 1,
      };
    case 'release':
      return { type, term: namedTerm(variant, term) };
  }
}

function beginFor(variant: string | undefined, owner: string): RunCommand<'begin'> {
  const request = {
    'other call': { ...REQUEST, nonce: 'another' },
    'other request': { digest: 'another', nonce: 'another' },
  }[variant ?? ''];
  return {
    type: 'begin',
    owner: owner === DETACHED ? 'pod-a' : owner,
    conversationId: 'talk',
    request: request ?? REQUEST,
    eventBytes: [10],
    ...(variant === 'turn running' && { running: { streamRequestId: 'sr', owner: 'pod-c', term: 1 } }),
  };
}

/** The term that a claim or a release names. */
function namedTerm(variant: string | undefined, term: number): number {
  if (variant === 'again') return term - 1;
  return variant === 'old term' ? term - 2 : term;
}

/** The result as the table writes it. */
function wordFor(result: unknown): string {
  if (typeof result === 'string') return result;
  return 'type' in (result as object) ? (result as { type: string }).type : 'granted';
}

describe('the table of runs', () => {
  it('has a row for every command and a cell for every state', () => {
    expect(RUN_CELLS).toHaveLength(RUN_COLUMNS.length * RUN_FROMS.length);
    expect([...new Set(RUN_CELLS.map(({ command }) => command))]).toEqual([...RUN_COLUMNS]);
    expect(Object.keys(RUN_TRANSITIONS).sort()).toEqual(['absent', ...RUN_STATES].sort());
    const types = Object.keys(RUN_TRANSITIONS.owned).sort();
    expect([...new Set(RUN_COLUMNS.map((column) => column.split(',')[0]))].sort()).toEqual(types);
  });

  for (const cell of RUN_CELLS) {
    it(`${cell.from}: ${cell.command}`, () => {
      const before = controlIn(cell.from);
      const { result, change } = transitionRun(before, commandFor(cell.command, cell.from));
      expect(wordFor(result)).toBe(cell.result);
      const after = change?.control ?? before;
      if (!cell.changes) return expect(after).toEqual(before);
      if (after === undefined) throw new Error('The run is still absent.');
      expect(after).not.toEqual(before);
      expect(stateOf(after)).toBe(cell.state ?? 'owned');
      expect(after.term - (before?.term ?? 1)).toBe(cell.termRise);
      expect(after.deaths - (before?.deaths ?? 0)).toBe(cell.deaths);
      expect(after.takeOvers - (before?.takeOvers ?? 0)).toBe(cell.deaths);
      if (typeof result === 'object' && 'term' in result) expect(result.term).toBe(after.term);
    });
  }
});

const owners = fc.constantFrom('pod-a', 'pod-b', 'pod-c');
/** Mostly the current term. */
const termOffset = fc.constantFrom(-2, -1, 0, 0, 0, 0, 1);
const ownerWrite = fc.record({
  termOffset,
  numberOffset: fc.option(fc.constantFrom(-1, 0, 1, 1, 1), { nil: undefined }),
  seqOffset: fc.constantFrom(-1, 0, 1, 1, 1, 2),
  eventBytes: fc.array(fc.nat({ max: 200 }), { maxLength: 3 }),
  noteCount: fc.nat({ max: 2 }),
});
const request = fc.option(
  fc.record({ digest: fc.constantFrom('d1', 'd2'), nonce: fc.constantFrom('n1', 'n2') }),
  { nil: undefined },
);
/** A command, once the run that it meets is known. */
type Draft = (run: RunControl | undefined) => AnyCommand;

const begins: fc.Arbitrary<Draft> = fc
  .record({ owner: fc.oneof(owners, fc.constant(UNOWNED)), request, isBusy: fc.boolean() })
  .map(({ owner, request, isBusy }) => () => ({
    type: 'begin',
    owner,
    conversationId: 'talk',
    eventBytes: [10],
    ...(request !== undefined && { request }),
    ...(isBusy && { running: { streamRequestId: 'sr', owner: 'pod-c', term: 1 } }),
  }));
const writes: fc.Arbitrary<Draft> = fc
  .record({ write: ownerWrite, type: fc.constantFrom('write', 'detach', 'end'), isSo: fc.boolean() })
  .map(({ write, type, isSo }) => (run) => {
    const { numberOffset, eventBytes, noteCount } = write;
    const common = {
      term: (run?.term ?? 1) + write.termOffset,
      firstSeq: (run?.writerSeq ?? 1) + write.seqOffset,
      eventBytes,
      noteCount,
      ...(numberOffset !== undefined && { number: Math.max(1, (run?.writes ?? 0) + numberOffset) }),
    };
    if (type === 'write') return { type, ...common, bytesMax: BYTES_MAX };
    if (type === 'detach') return { type, ...common, waitEnded: isSo };
    return { type: 'end', ...common, status: isSo ? 'finished' : 'failed' };
  });
const takeOvers: fc.Arbitrary<Draft> = fc
  .record({
    owner: fc.option(owners, { nil: undefined }),
    termOffset,
    diedSoon: fc.boolean(),
    newSteps: fc.nat({ max: 1 }),
  })
  .map(({ owner, termOffset, diedSoon, newSteps }) => (run) => {
    const term = (run?.term ?? 1) + termOffset;
    return owner === undefined
      ? { type: 'release', term }
      : { type: 'claim', term, owner, diedSoon, steps: (run?.stepsAtDeath ?? 0) + newSteps };
  });
const stops: fc.Arbitrary<Draft> = fc.constant(() => ({ type: 'stop' }) as const);
const histories = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: begins },
    { weight: 5, arbitrary: writes },
    { weight: 4, arbitrary: takeOvers },
    { weight: 1, arbitrary: stops },
  ),
  { minLength: 1, maxLength: 25 },
);

interface Move {
  readonly before: RunControl | undefined;
  readonly command: AnyCommand;
  readonly decision: ReturnType<typeof transitionRun>;
  readonly after: RunControl | undefined;
}

/** Plays random commands from an absent run on, and checks each move with all moves so far. */
function always(check: (move: Move, sofar: readonly Move[]) => void): void {
  const play = (drafts: readonly Draft[]) => {
    const moves: Move[] = [];
    for (const draft of drafts) {
      const before = moves.at(-1)?.after;
      const command = draft(before);
      const decision = transitionRun(before, command);
      const move = { before, command, decision, after: decision.change?.control ?? before };
      moves.push(move);
      check(move, moves);
    }
  };
  fc.assert(fc.property(histories, play), { numRuns: sized(500) });
}

describe('any sequence of commands', () => {
  it('the term of a run never falls, and rises with every change of its owner', () => {
    always(({ before, after }) => {
      if (before === undefined || after === undefined) return;
      expect([before.term, before.term + 1]).toContain(after.term);
      if (after.owner !== before.owner) expect(after.term).toBe(before.term + 1);
    });
  });

  it('a term has one owner', () => {
    always((_move, sofar) => {
      const ownersOf = new Map<number, string>();
      for (const { after } of sofar) {
        if (after === undefined) continue;
        expect(ownersOf.get(after.term) ?? after.owner).toBe(after.owner);
        ownersOf.set(after.term, after.owner);
      }
    });
  });

  it('a command repeated at once changes nothing and gets the same reply', () => {
    always(({ command, decision, after }) => {
      const again = transitionRun(after, command);
      expect(again.change?.control ?? after).toEqual(after);
      const events = 'eventBytes' in command ? command.eventBytes.length : 0;
      if (again.change !== undefined) expect(again.change.firstNew).toBe(events);
      const isRepeatable = command.type === 'claim' || command.type === 'release' || command.type === 'stop';
      if (isRepeatable) expect(again.result).toEqual(decision.result);
    });
  });

  it('counts the owners that died, and those that died soon since one died late after a step', () => {
    always(({ after }, sofar) => {
      const deaths = sofar.flatMap(({ before, command, decision }) =>
        before !== undefined &&
        ![UNOWNED, DETACHED].includes(before.owner) &&
        command.type === 'claim' &&
        decision.change !== undefined
          ? { isSoon: command.diedSoon, isLate: !command.diedSoon && command.steps > before.stepsAtDeath }
          : [],
      );
      const last = deaths.findLastIndex(({ isLate }) => isLate);
      expect(after?.deaths ?? 0).toBe(deaths.slice(last + 1).filter(({ isSoon }) => isSoon).length);
      expect(after?.takeOvers ?? 0).toBe(deaths.length);
    });
  });

  it('every event is appended exactly once', () => {
    always(({ before, command, decision, after }) => {
      if (before === undefined || after === undefined || decision.change === undefined) return;
      if (!('eventBytes' in command) || !('firstSeq' in command)) return;
      const appended = command.eventBytes.slice(decision.change.firstNew);
      const last = command.firstSeq + command.eventBytes.length - 1;
      expect(after.writerSeq).toBe(appended.length === 0 ? before.writerSeq : last);
      expect(after.bytes - before.bytes).toBe(appended.reduce((sum, bytes) => sum + bytes, 0));
    });
  });

  it('run and command are not modified, and the decision is deterministic', () => {
    always(({ before, command, decision }) => {
      const sent = structuredClone({ before, command });
      expect(transitionRun(before, command)).toEqual(decision);
      expect({ before, command }).toEqual(sent);
    });
  });
});
