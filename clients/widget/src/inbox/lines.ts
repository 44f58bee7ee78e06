import { isTerminal } from '@parley/shared/domain/elicitations/status';
import type { Elicitation } from '../elicitation.ts';

/** One line of the inbox. */
export interface InboxLine {
  readonly elicitation: Elicitation;
  /** When the question stopped being open, in ms on the page's own clock; absent while it is open. */
  readonly closedAt?: number;
  /** The question is no longer open, and how it ended could not be read. */
  readonly isUnknown?: true;
}

/** The result of a merge. */
export interface Merged {
  readonly lines: readonly InboxLine[];
  readonly arrived: readonly Elicitation[];
  /** Ids of questions that are no longer open. How they ended is not known yet. */
  readonly closed: readonly string[];
}

/** Merges the open questions into the list, newest first. A question that is no longer open stays as a closed line. */
export function merge(lines: readonly InboxLine[], open: readonly Elicitation[], at: number): Merged {
  const known = new Map(lines.map((line) => [line.elicitation.elicitationId, line]));
  const waiting = new Set(open.map(({ elicitationId }) => elicitationId));
  const merged = open.map((elicitation): InboxLine => {
    const line = known.get(elicitation.elicitationId);
    // The list may be older than the answer; a terminal status never changes.
    return line !== undefined && isTerminal(line.elicitation.status) ? line : { elicitation };
  });
  const gone = lines.filter(({ elicitation }) => !waiting.has(elicitation.elicitationId));
  return {
    lines: [...merged, ...gone.map((line) => ({ closedAt: at, ...line }))].sort(newestFirst),
    arrived: open.filter(({ elicitationId }) => !known.has(elicitationId)),
    closed: gone.filter((line) => line.closedAt === undefined).map((line) => line.elicitation.elicitationId),
  };
}

/** Records how a question ended. One that is still open, or not in the list, changes nothing. */
export function endLine(
  lines: readonly InboxLine[],
  ended: Pick<Elicitation, 'elicitationId' | 'status'>,
  at: number,
): readonly InboxLine[] {
  if (!isTerminal(ended.status)) return lines;
  return lines.map((line) =>
    line.elicitation.elicitationId === ended.elicitationId && !isTerminal(line.elicitation.status)
      ? { closedAt: line.closedAt ?? at, elicitation: { ...line.elicitation, ...ended } }
      : line,
  );
}

/** Records that the end of a question could not be read. */
export function markUnknown(lines: readonly InboxLine[], elicitationId: string): readonly InboxLine[] {
  return lines.map((line) =>
    line.elicitation.elicitationId === elicitationId && line.closedAt !== undefined
      ? { ...line, isUnknown: true }
      : line,
  );
}

/** The list without the lines that closed before `since`, except for those in use. */
export function dropClosed(
  lines: readonly InboxLine[],
  since: number,
  isInUse: (elicitationId: string) => boolean,
): readonly InboxLine[] {
  const kept = lines.filter(
    ({ closedAt, elicitation }) =>
      closedAt === undefined || closedAt > since || isInUse(elicitation.elicitationId),
  );
  return kept.length === lines.length ? lines : kept;
}

/** The number of open questions. */
export function countWaiting(lines: readonly InboxLine[]): number {
  return lines.filter(({ closedAt }) => closedAt === undefined).length;
}

function newestFirst({ elicitation: a }: InboxLine, { elicitation: b }: InboxLine): number {
  const later = Date.parse(b.createdAt ?? '') - Date.parse(a.createdAt ?? '');
  return later || (a.elicitationId < b.elicitationId ? -1 : 1);
}
