import { rankOfRisk } from '@parley/core/domain/approvals/risk';
import type { Approval } from '../approval.ts';
import type { Elicitation } from '../elicitation.ts';
import { type InboxLine, type InboxRecord, newestFirst } from './lines.ts';

/** One row of the inbox: a question, or the calls of one step. */
export type InboxRow =
  | { readonly id: string; readonly question: InboxLine<Elicitation> }
  | { readonly id: string; readonly calls: readonly InboxLine<Approval>[] };

/** The rows of both lists: the highest risk first, and of one risk the newest. Calls of one step share a row, which is where its oldest call stands. */
export function rowsOf(
  questions: readonly InboxLine<Elicitation>[],
  calls: readonly InboxLine<Approval>[],
): readonly InboxRow[] {
  const steps = new Map<string, InboxLine<Approval>[]>();
  for (const line of calls) {
    const { step = line.id } = line.item;
    // The first of the list is the newest.
    steps.set(step, [line, ...(steps.get(step) ?? [])]);
  }
  const rows: InboxRow[] = [
    ...questions.map((question) => ({ id: question.id, question })),
    ...[...steps.entries()].map(([id, lines]) => ({ id, calls: lines })),
  ];
  return rows.sort((a, b) => rankOf(a) - rankOf(b) || newestFirst(firstOf(a), firstOf(b)));
}

/** The id of the row that a record is in. */
export function rowIdOf(approval: Approval): string {
  return approval.step ?? approval.approvalId;
}

function rankOf(row: InboxRow): number {
  const lines = 'question' in row ? [row.question] : row.calls;
  return Math.min(...lines.map(({ item }) => rankOfRisk(item.risk)));
}

function firstOf(row: InboxRow): InboxLine<InboxRecord> {
  if ('question' in row) return row.question;
  return row.calls[0] ?? { id: row.id, item: { status: '' } };
}
