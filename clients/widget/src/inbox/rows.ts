import { rankOfRisk } from '@parley/core/domain/approvals/risk';
import type { Approval } from '../approval.ts';
import type { Elicitation } from '../elicitation.ts';
import { type InboxLine, type InboxRecord, newestFirst } from './lines.ts';

/** One row of the inbox: a question, or the calls of one step. */
export type InboxRow =
  | { readonly id: string; readonly question: InboxLine<Elicitation> }
  | { readonly id: string; readonly calls: readonly InboxLine<Approval>[] };

/**
 * The rows of both lists, by risk (highest first) and then by age (newest first). The calls of one step share a row, placed by
 * its oldest call.
 */
export function rowsOf(
  questions: readonly InboxLine<Elicitation>[],
  calls: readonly InboxLine<Approval>[],
): readonly InboxRow[] {
  const steps = new Map<string, InboxLine<Approval>[]>();
  for (const line of calls) {
    const { step = line.id } = line.item;
    // The list begins with the newest, so this puts the oldest call first.
    steps.set(step, [line, ...(steps.get(step) ?? [])]);
  }
  const rows: InboxRow[] = [
    ...questions.map((question) => ({ id: question.id, question })),
    ...[...steps.entries()].map(([id, lines]) => ({ id, calls: lines })),
  ];
  return rows.sort((a, b) => rankOf(a) - rankOf(b) || newestFirst(firstOf(a), firstOf(b)));
}

/** The id of the row that contains a record. */
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
