/** Where a run stands before a command; `-stop` after a stop was requested. */
export const RUN_FROMS = [
  'absent',
  'queued',
  'owned',
  'detached',
  'ended',
  'queued-stop',
  'owned-stop',
  'detached-stop',
] as const;
export type RunFrom = (typeof RUN_FROMS)[number];

// The table of `domain/runs/transition.ts`, written out by hand once more, so that code and table can disagree.
// A cell is the result, and what changes: `>` the state afterwards, `+` the term rises by one, `!` the death of an owner
// that died soon is counted, among those since the last step and among all. A cell without `>` changes nothing.
//
// "same call": the nonce of the call that began the run, and its present owner. "again": the last command once more,
// its reply having been lost. "late copy": a write with a lower number than the last one. "gap": a write whose first
// event is not the next one of the run.
const TABLE = `
  command              | absent  | queued            | owned             | detached          | ended    | queued-stop     | owned-stop      | detached-stop
  begin, same call     | begun>  | begun             | begun             | known             | known    | begun           | begun           | known
  begin, other call    | begun>  | known             | known             | known             | known    | known           | known           | known
  begin, other request | begun>  | mismatch          | mismatch          | mismatch          | mismatch | mismatch        | mismatch        | mismatch
  begin, turn running  | running | begun             | begun             | known             | known    | begun           | begun           | known
  write                | gone    | written>queued    | written>owned     | written>detached  | fenced   | stopping>queued | stopping>owned  | stopping>detached
  write, empty         | gone    | written           | written           | written           | fenced   | stopping        | stopping        | stopping
  write, again         | gone    | written           | written           | written           | fenced   | stopping        | stopping        | stopping
  write, late copy     | gone    | written           | written           | written           | fenced   | written         | written         | written
  write, gap           | gone    | behind            | behind            | behind            | fenced   | behind          | behind          | behind
  write, old term      | gone    | fenced            | fenced            | fenced            | fenced   | fenced          | fenced          | fenced
  write, too large     | gone    | full              | full              | full              | fenced   | full            | full            | full
  detach               | gone    | written>detached+ | written>detached+ | written>detached+ | fenced   | wait-ended      | wait-ended      | wait-ended
  detach, wait ended   | gone    | wait-ended        | wait-ended        | wait-ended        | fenced   | wait-ended      | wait-ended      | wait-ended
  detach, late copy    | gone    | written           | written           | written           | fenced   | written         | written         | written
  detach, gap          | gone    | behind            | behind            | behind            | fenced   | behind          | behind          | behind
  detach, old term     | gone    | fenced            | fenced            | fenced            | fenced   | fenced          | fenced          | fenced
  end                  | gone    | written>ended     | written>ended     | written>ended     | written  | written>ended   | written>ended   | written>ended
  end, other status    | gone    | written>ended     | written>ended     | written>ended     | fenced   | written>ended   | written>ended   | written>ended
  end, more events     | gone    | written>ended     | written>ended     | written>ended     | fenced   | written>ended   | written>ended   | written>ended
  end, late copy       | gone    | written           | written           | written           | written  | written         | written         | written
  end, gap             | gone    | behind            | behind            | behind            | fenced   | behind          | behind          | behind
  end, old term        | gone    | fenced            | fenced            | fenced            | fenced   | fenced          | fenced          | fenced
  stop                 | gone    | stopping>queued   | stopping>owned    | stopping>detached | ended    | stopping        | stopping        | stopping
  claim                | gone    | granted>owned+    | granted>owned+!   | granted>owned+    | fenced   | granted>owned+  | granted>owned+! | granted>owned+
  claim, again         | gone    | fenced            | granted           | fenced            | fenced   | fenced          | granted         | fenced
  claim, old term      | gone    | fenced            | fenced            | fenced            | fenced   | fenced          | fenced          | fenced
  release              | gone    | granted>queued+   | granted>queued+   | granted>queued+   | fenced   | granted>queued+ | granted>queued+ | granted>queued+
  release, again       | gone    | granted           | fenced            | fenced            | fenced   | granted         | fenced          | fenced
  release, old term    | gone    | fenced            | fenced            | fenced            | fenced   | fenced          | fenced          | fenced`;

export const RUN_COLUMNS = [
  'begin, same call',
  'begin, other call',
  'begin, other request',
  'begin, turn running',
  'write',
  'write, empty',
  'write, again',
  'write, late copy',
  'write, gap',
  'write, old term',
  'write, too large',
  'detach',
  'detach, wait ended',
  'detach, late copy',
  'detach, gap',
  'detach, old term',
  'end',
  'end, other status',
  'end, more events',
  'end, late copy',
  'end, gap',
  'end, old term',
  'stop',
  'claim',
  'claim, again',
  'claim, old term',
  'release',
  'release, again',
  'release, old term',
] as const;
export type RunColumn = (typeof RUN_COLUMNS)[number];

export interface RunCell {
  readonly command: RunColumn;
  readonly from: RunFrom;
  readonly result: string;
  /** True when the command changes anything. */
  readonly changes: boolean;
  /** The state afterwards; absent where nothing changes, and for a begin, whose owner decides it. */
  readonly state?: 'queued' | 'owned' | 'detached' | 'ended';
  readonly termRise: 0 | 1;
  readonly deaths: 0 | 1;
}

const [HEAD = [], ...BODY] = TABLE.trim()
  .split('\n')
  .map((line) => line.split('|').map((word) => word.trim()));

/** Every cell of the table. */
export const RUN_CELLS: readonly RunCell[] = BODY.flatMap(([command, ...words]) =>
  words.map((word, at): RunCell => {
    const [, result = '', changes, state = '', marks = ''] =
      /^([a-z-]+)(>?)([a-z]*)([+!]*)$/.exec(word) ?? [];
    return {
      command: command as RunColumn,
      from: HEAD[at + 1] as RunFrom,
      result,
      changes: changes === '>',
      ...(state !== '' && { state: state as 'queued' }),
      termRise: marks.includes('+') ? 1 : 0,
      deaths: marks.includes('!') ? 1 : 0,
    };
  }),
);

export function runCell(command: RunColumn, from: RunFrom): RunCell {
  const found = RUN_CELLS.find((cell) => cell.command === command && cell.from === from);
  if (found === undefined) throw new Error(`The table has no cell for ${command} on ${from}.`);
  return found;
}
