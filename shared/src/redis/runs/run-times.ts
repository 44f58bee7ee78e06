import type { EntryStamp, Ownership, RunTimes } from '../../domain/runs/run.ts';

type Stamps = readonly [first: EntryStamp, last: EntryStamp];

const STEP = 'at:step:';
const CALL = 'at:call:';
const OWNER = 'owner:';

/** Reads the times and owners that the scripts record in a run's hash. */
export function timesOf(fields: ReadonlyMap<string, string>): RunTimes {
  const owners: Ownership[] = [];
  const steps = new Map<number, Stamps>();
  const calls = new Map<string, Stamps>();
  for (const [name, value] of fields) {
    if (name.startsWith(STEP)) steps.set(Number(name.slice(STEP.length)), stampsOf(value));
    else if (name.startsWith(CALL)) calls.set(name.slice(CALL.length), stampsOf(value));
    else if (name.startsWith(OWNER)) owners.push(ownershipOf(Number(name.slice(OWNER.length)), value));
  }
  return { owners: owners.sort((a, b) => a.term - b.term), steps, calls };
}

/** Parses `<ms>/<term> <ms>/<term>`. */
function stampsOf(value: string): Stamps {
  const [first = '', last = first] = value.split(' ');
  return [stampOf(first), stampOf(last)];
}

function stampOf(text: string): EntryStamp {
  const [at, term] = text.split('/');
  return { at: Number(at), term: Number(term) };
}

/** Parses `<ms> <owner>`. */
function ownershipOf(term: number, value: string): Ownership {
  const space = value.indexOf(' ');
  return { term, owner: value.slice(space + 1), since: Number(value.slice(0, space)) };
}
