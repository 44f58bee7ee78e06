import type { Webhooks } from '@parley/shared/delivery/webhooks';
import type { CallLimits } from '../../http/limits/call-limits.ts';
import type { Surface } from '../../http/route.ts';
import { approvalRoutes } from './approvals.ts';
import { elicitAnswerRoute } from './elicit-answers.ts';
import { type ElicitationRoutesDeps, elicitationRoutes } from './elicitations.ts';
import { streamRoutes } from './streams.ts';
import { type EraseUser, userRoutes } from './users.ts';
import { webhookRoutes } from './webhooks.ts';
import { type WorkflowRoutesDeps, workflowRoutes } from './workflows.ts';

export interface RestDeps extends ElicitationRoutesDeps {
  readonly limits: CallLimits;
  readonly webhooks: Webhooks;
  readonly eraseUser: EraseUser;
  readonly workflows: WorkflowRoutesDeps;
}

/** The hub API under /v1. */
export function restRoutes(deps: RestDeps): Surface {
  return {
    routes: [
      ...elicitationRoutes(deps),
      ...approvalRoutes(deps.engine, deps.limits),
      ...streamRoutes(deps.engine, deps.limits),
      elicitAnswerRoute(deps.engine),
      ...webhookRoutes(deps.webhooks),
      ...userRoutes(deps.eraseUser),
      ...workflowRoutes(deps.workflows),
    ],
    browserHeaders: { request: ['idempotency-key', 'last-event-id'], response: ['idempotent-replayed'] },
  };
}
