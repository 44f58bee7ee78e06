/** Records as the Slack surface shows them. */
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import type { Row } from '@parley/shared/domain/elicitations/row';
import { CALL } from '../engines/approvals.ts';

export const ASKED_AT = Date.parse('2026-01-15T09:30:00Z');

/** What the records of both families have alike. */
const PENDING = {
  status: 'pending',
  revision: 1,
  createdAt: ASKED_AT,
  expiresAt: ASKED_AT + 600_000,
} as const;
const PLACE = { tenant: 'acme', userId: 'ada', streamRequestId: 'sr_one', conversationId: 'talk' };

export function questionRow(definition: Partial<Row['definition']> = {}, more: Partial<Row> = {}): Row {
  return {
    id: 'el_00AAAAAAAAAAAAAAAAAAAAAA',
    ...PENDING,
    ...more,
    definition: {
      ...PLACE,
      mode: 'form',
      message: 'Which size do you want?',
      context: { trigger: 'agent' },
      timeoutSeconds: 600,
      ...definition,
    },
  };
}

export function approvalRow(
  definition: Partial<ApprovalRow['definition']> = {},
  more: Partial<ApprovalRow> = {},
): ApprovalRow {
  return {
    id: 'ap_00AAAAAAAAAAAAAAAAAAAAAA',
    ...PENDING,
    ...more,
    definition: { ...CALL, ...PLACE, ...definition },
  };
}
