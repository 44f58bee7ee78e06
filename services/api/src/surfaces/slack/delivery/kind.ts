import { bucketOfElicitationId, isApprovalId, parseStreamPath } from '@parley/core/domain/ids';
import { type DeliveryKind, NOT_UNDERSTOOD } from '@parley/shared/ports/delivery/kind';
import { deliverApproval } from './approval.ts';
import { DELIVERY_MS, SLACK, type SlackDeliveryDeps } from './deps.ts';
import { deliverQuestion } from './question.ts';
import { deliverStep, parseStep } from './step.ts';
import { deliverTurn } from './turn.ts';

// How many deliveries run at once. A turn that is followed occupies a place as long as it runs.
const PLACES = 64;

/**
 * The delivery kind of Slack. It updates in Slack what its subject names: a question, an approval, the calls of a step or a
 * turn.
 */
export function slackKind(deps: SlackDeliveryDeps): DeliveryKind {
  return {
    name: SLACK,
    places: PLACES,
    async handle({ subject }, attempt) {
      const inTime = withinLease(deps);
      if (bucketOfElicitationId(subject) !== undefined) return deliverQuestion(inTime, subject, attempt);
      if (isApprovalId(subject)) return deliverApproval(inTime, subject, attempt);
      const stream = parseStreamPath(subject);
      if (stream !== undefined) return deliverTurn(inTime, stream, attempt);
      const step = parseStep(subject);
      return step === undefined ? NOT_UNDERSTOOD : deliverStep(inTime, step, attempt);
    },
  };
}

/** The dependencies of one delivery, which begins no Slack call that might outlast its lease. */
function withinLease(deps: SlackDeliveryDeps): SlackDeliveryDeps {
  const endsAt = deps.now() + DELIVERY_MS;
  return { ...deps, clientOf: (token) => deps.clientOf(token, () => deps.now() > endsAt) };
}
