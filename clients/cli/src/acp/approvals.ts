/** Shows the approvals of a turn as permission requests of ACP and sends back decisions. Questions are in `questions.ts`. */

import {
  type AgentContext,
  methods,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { callText } from '@parley/core/domain/approvals/tool-title';
import { type Approval, type ApprovalChoice, isParleyClientError, type ParleyClient } from '@parley/sdk';
import { describeApproval } from './describe.ts';

interface ApprovalsDeps {
  readonly client: Pick<AgentContext, 'request'>;
  readonly parley: Pick<ParleyClient, 'decide'>;
  readonly sessionId: string;
  /** Adds a paragraph to the text of the turn. */
  readonly say: (text: string) => Promise<void>;
  readonly log: (line: string) => void;
}

/** The approvals of one turn, as displayed over one ACP connection. */
export interface Approvals {
  /** Takes the newest state of an approval: sends a request for a new one, and ends the request of an ended one. */
  see(approval: Approval): void;
  /** Ends the requests to the client without deciding anything. */
  close(): void;
}

type PermissionOption = RequestPermissionRequest['options'][number];

const CHOICES: ReadonlyMap<string | undefined, ApprovalChoice> = new Map([
  ['approve', { decision: 'approve' }],
  ['remember', { decision: 'approve', remember: true }],
  ['deny', { decision: 'deny' }],
]);

/** The choices of the person. ACP has no option to edit a call. */
function optionsOf({ remember }: Pick<Approval, 'remember'>): PermissionOption[] {
  return [
    { optionId: 'approve', name: 'Approve once', kind: 'allow_once' },
    ...(remember === undefined
      ? []
      : [{ optionId: 'remember', name: rememberName(remember), kind: 'allow_always' } as const]),
    { optionId: 'deny', name: 'Deny', kind: 'reject_once' },
  ];
}

function rememberName(remember: NonNullable<Approval['remember']>): string {
  if (remember === 'conversation') return 'Approve, and do not ask again in this conversation';
  const { days } = remember;
  return `Approve, and do not ask again for ${days === 1 ? 'one day' : `${days} days`}`;
}

/** Error codes of a decision that came too late, because the approval was decided elsewhere or has expired. */
const SETTLED = ['already_settled', 'expired', 'not_found'] as const;

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const requests = new Map<string, AbortController>();
  return {
    see(approval) {
      const { approvalId, status } = approval;
      const known = requests.get(approvalId);
      if (status !== 'pending') known?.abort();
      if (status !== 'pending' || known !== undefined) return;
      const ended = new AbortController();
      requests.set(approvalId, ended);
      // Reading the turn continues during the request, because the approval may be decided elsewhere.
      void ask(deps, approval, ended.signal).catch((error: unknown) =>
        deps.log(
          `a decision could not be sent: ${isParleyClientError(error) ? error.code : 'unknown error'}`,
        ),
      );
    },
    close() {
      for (const ended of requests.values()) ended.abort();
    },
  };
}

/** Asks the client for permission and records the decision. Only the choice of an option decides anything. */
async function ask(
  { client, parley, sessionId, say }: ApprovalsDeps,
  approval: Approval,
  signal: AbortSignal,
): Promise<void> {
  const { approvalId, toolCallId } = approval;
  const toolCall = { toolCallId, title: callText(approval), rawInput: approval.arguments };
  const request = { sessionId, toolCall, options: optionsOf(approval) };
  const options = { cancellationSignal: signal, stopWaitingOnCancel: true };
  const chosen = await client
    .request<RequestPermissionResponse, RequestPermissionRequest>(
      methods.client.session.requestPermission,
      request,
      options,
    )
    .then(({ outcome }: RequestPermissionResponse) =>
      outcome.outcome === 'selected' ? outcome.optionId : undefined,
    )
    .catch(() => undefined);
  if (signal.aborted) return;
  const choice = CHOICES.get(chosen);
  if (choice === undefined) return say(describeApproval(approval));
  try {
    await parley.decide(approvalId, choice, { signal });
  } catch (error) {
    if (!signal.aborted && !SETTLED.some((code) => isParleyClientError(error, code))) throw error;
  }
}
