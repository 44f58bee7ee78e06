import {
  type ApprovalChoice,
  createTransport,
  isParleyClientError,
  RETRY_DEFAULTS,
  readApproval,
  resolveBaseUrl,
  sendDecision,
} from '@parley/core';
import type { Approval } from '@parley/core/domain/approvals/approval';
import type { ApprovalStatus } from '@parley/core/domain/approvals/status';
import { callText } from '@parley/core/domain/approvals/tool-title';
import { readable } from '@parley/core/domain/readable';
import { countdownOf } from './answering.ts';
import type { CliConnection } from './connection.ts';
import { EXIT } from './exit-code.ts';
import { LEFT, type Screen } from './terminal/screen.ts';

const REASON_CHARACTERS_MAX = 2_000;

/** The exit code for each state of an approval. */
export const EXIT_OF_APPROVAL: Readonly<Record<ApprovalStatus, number>> = {
  pending: EXIT.open,
  approved: EXIT.accepted,
  edited: EXIT.accepted,
  denied: EXIT.declined,
  expired: EXIT.expired,
  withdrawn: EXIT.withdrawn,
};

interface DecidingParts extends CliConnection {
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/**
 * Shows a call that waits for an approval, and records the person's decision. Leaving the prompt decides nothing. Resolves with
 * the latest state of the approval.
 */
export async function decideInTerminal(
  { screen, signal, ...connection }: DecidingParts,
  approvalId: string,
): Promise<Approval> {
  const transport = transportOf(connection);
  const approval = await readApproval(transport, approvalId, { signal });
  if (approval.status !== 'pending') return approval;
  screen.say(`${callText(approval)}\n${readable(JSON.stringify(approval.arguments, undefined, 2))}`);
  const choice = await choose(screen, approval, signal);
  if (choice === undefined) return approval;
  try {
    return await sendDecision(transport, approvalId, choice, { signal });
  } catch (error) {
    // The approval was decided elsewhere first, or its deadline passed.
    const now = isParleyClientError(error) ? error.problem?.approval : undefined;
    if (now === undefined) throw error;
    return now;
  }
}

export function transportOf({ baseUrl, token }: CliConnection) {
  return createTransport({ root: resolveBaseUrl(baseUrl), token, retry: RETRY_DEFAULTS });
}

async function choose(
  screen: Screen,
  approval: Approval,
  signal: AbortSignal,
): Promise<ApprovalChoice | undefined> {
  const countdown = countdownOf(approval);
  const chosen = await screen.select(
    {
      label: 'May this call be made?',
      countdown,
      options: [
        { value: 'approve', label: 'Approve' } as const,
        ...(approval.remember === undefined
          ? []
          : [{ value: 'remember', label: 'Approve, and further calls of this tool too' } as const]),
        { value: 'deny', label: 'Deny' } as const,
        { value: 'later', label: 'Later' } as const,
      ],
      initial: 'later' as const,
    },
    signal,
  );
  if (chosen === LEFT || chosen === 'later') return undefined;
  if (chosen !== 'deny') return { decision: 'approve', ...(chosen === 'remember' && { remember: true }) };
  const reason = await screen.text(
    {
      label: 'Why? (optional; the agent reads it)',
      countdown,
      takesLines: true,
      validate: (text) => (text.length > REASON_CHARACTERS_MAX ? 'is too long' : undefined),
    },
    signal,
  );
  if (reason === LEFT) return undefined;
  return { decision: 'deny', ...(reason !== '' && { reason }) };
}
