import { bucketOfElicitationId, parseStreamPath } from '@parley/shared/domain/ids';
import { type DeliveryKind, NOT_UNDERSTOOD } from '@parley/shared/ports/delivery/kind';
import { SLACK, type SlackDeliveryDeps } from './deps.ts';
import { deliverQuestion } from './question.ts';
import { deliverTurn } from './turn.ts';

// A turn that is followed has a place for as long as it runs.
const PLACES = 64;

/** The delivery kind of Slack: what its subject names, a question or a turn, is brought up to date there. */
export function slackKind(deps: SlackDeliveryDeps): DeliveryKind {
  return {
    name: SLACK,
    places: PLACES,
    async handle({ subject }, attempt) {
      if (bucketOfElicitationId(subject) !== undefined) return deliverQuestion(deps, subject, attempt);
      const stream = parseStreamPath(subject);
      return stream === undefined ? NOT_UNDERSTOOD : deliverTurn(deps, stream, attempt);
    },
  };
}
