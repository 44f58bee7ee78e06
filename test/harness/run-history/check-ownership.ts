import type { RunDossier } from './index-runs.ts';

/** R7: the first owner has the term 1, and each take-over raises it by one. */
export function* termsRise({ done }: RunDossier): Generator<string> {
  let before = 0;
  for (const event of done) {
    if (event.type !== 'term') continue;
    if (event.term !== before + 1) yield `the term ${event.term} came after ${before}`;
    before = event.term;
  }
}

/** R8: nobody shares a term. */
export function* oneOwnerPerTerm({ done }: RunDossier): Generator<string> {
  const owners = new Map<number, string>();
  for (const event of done) {
    if (event.type !== 'term') continue;
    const other = owners.get(event.term);
    if (other !== undefined && other !== event.owner)
      yield `the term ${event.term} belongs to ${other} and to ${event.owner}`;
    owners.set(event.term, event.owner);
  }
}

/** R9: a write that is too late changes nothing. */
export function* lateWritesAreRefused({ done }: RunDossier): Generator<string> {
  let newest = 0;
  let ended = false;
  for (const event of done) {
    if (event.type === 'term') {
      newest = Math.max(newest, event.term);
      if (ended) yield `the term ${event.term} began after the end`;
      continue;
    }
    if (!event.accepted) continue;
    if (event.term < newest) yield `a write under the term ${event.term} was taken under ${newest}`;
    if (ended) yield `a write under the term ${event.term} was taken after the end`;
    ended ||= event.ends !== undefined;
  }
}

/** R10: a pod does not use a term of another pod's. The name of an owner begins with that of its pod. */
export function* onlyTheOwnerWrites({ done, attempts }: RunDossier): Generator<string> {
  const owners = new Map(done.flatMap((event) => (event.type === 'term' ? [[event.term, event.owner]] : [])));
  const told = new Set<string>();
  for (const { pod, term } of attempts) {
    const owner = owners.get(term);
    if (owner?.startsWith(`${pod}/`)) continue;
    const breach = `${pod} means to write under the term ${term}, which is ${owner ?? 'nobody'}'s`;
    if (!told.has(breach)) yield breach;
    told.add(breach);
  }
}
