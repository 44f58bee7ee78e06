import type { RunCase } from '../run-case.ts';

/** R7: the first owner has the term 1, and each take-over raises it by one. */
export function* termsRise({ done }: RunCase): Generator<string> {
  let before = 0;
  for (const event of done) {
    if (event.type !== 'term') continue;
    if (event.term !== before + 1) yield `the term ${event.term} came after ${before}`;
    before = event.term;
  }
}

/** R8: no two owners share a term. */
export function* oneOwnerPerTerm({ done }: RunCase): Generator<string> {
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
export function* lateWritesAreRefused({ done }: RunCase): Generator<string> {
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

/** R10: a pod uses no term of another pod. An owner's name begins with the name of its pod. */
export function* onlyTheOwnerWrites({ done, attempts }: RunCase): Generator<string> {
  const owners = new Map(done.flatMap((event) => (event.type === 'term' ? [[event.term, event.owner]] : [])));
  const reported = new Set<string>();
  for (const { pod, term } of attempts) {
    const owner = owners.get(term);
    if (owner?.startsWith(`${pod}/`)) continue;
    const breach = `${pod} tries to write under the term ${term}, which belongs to ${owner ?? 'no owner'}`;
    if (!reported.has(breach)) yield breach;
    reported.add(breach);
  }
}
