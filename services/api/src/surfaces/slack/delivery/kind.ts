import { bucketOfElicitationId, isApprovalId, parseStreamPath } from '@parley/shared/domain/ids';
import { type DeliveryKind, NOT_UNDERSTOOD } from '@parley/shared/ports/delivery/kind';
import type { OutboxResult } from '@parley/shared/ports/delivery/outbox';
import { DELIVERY_MS, SLACK, type SlackDeliveryDeps } from './deps.ts';
import { deliverQuestion, turnTask } from './question.ts';
import { deliverTurn } from './turn.ts';

// A turn that is followed has a place for as long as it runs.
const PLACES = 64;

/** The delivery kind of Slack: what its subject names, a question or a turn, is brought up to date there. */
export function slackKind(deps: SlackDeliveryDeps): DeliveryKind {
  return {
    name: SLACK,
    places: PLACES,
    async handle({ subject }, attempt) {
      const inTime = withinLease(deps);
      if (bucketOfElicitationId(subject) !== undefined) return deliverQuestion(inTime, subject, attempt);
      if (isApprovalId(subject)) return deliverApproval(deps, subject);
      const stream = parseStreamPath(subject);
      return stream === undefined ? NOT_UNDERSTOOD : deliverTurn(inTime, stream, attempt);
    },
  };
}

/** An approval has no message of its own: the reply of its turn says that the turn waits for it. */
async function deliverApproval(
  { approvals, outbox }: SlackDeliveryDeps,
  approvalId: string,
): Promise<OutboxResult> {
  const { row } = await approvals.read(approvalId);
  if (row !== undefined) await outbox.add(turnTask(row.definition));
  return 'done';
}

/** One delivery: it begins no call of Slack that might outlast its lease. */
function withinLease(deps: SlackDeliveryDeps): SlackDeliveryDeps {
  const endsAt = deps.now() + DELIVERY_MS;
  return { ...deps, clientOf: (token) => deps.clientOf(token, () => deps.now() > endsAt) };
}
