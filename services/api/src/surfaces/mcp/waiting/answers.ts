import type { RunRef } from '@parley/shared/domain/runs/run';
import { isClientRequestId } from '@parley/shared/elicitations/asking/client-requests';
import { admitAnswer } from '../../../http/limits/call-limits.ts';
import { userOf } from '../../../http/reply.ts';
import type { RouteCall } from '../../../http/route.ts';
import type { McpDeps } from '../deps.ts';
import { recordAnswer } from '../questions.ts';

// The maximum number of answers: more than a run has questions open at once.
const ANSWERS_MAX = 50;

/**
 * Records a client's answers to its input requests, by their keys. Keys that are not open in the run are ignored. If an answer
 * does not fit its form, the question stays open. Returns the errors of such answers. Throws `unavailable` and `rate_limited`.
 */
export async function recordAnswers(
  deps: Pick<McpDeps, 'engine' | 'clientRequests' | 'limits'>,
  call: RouteCall,
  { conversationId, streamRequestId }: RunRef,
  responses: Readonly<Record<string, unknown>>,
): Promise<readonly unknown[]> {
  const caller = userOf(call.caller);
  const misfits: unknown[] = [];
  for (const [id, result] of Object.entries(responses).slice(0, ANSWERS_MAX)) {
    const admitted = admitAnswer(deps.limits, call, id);
    if (isClientRequestId(id)) {
      await admitted;
      await deps.clientRequests.answer(caller, id, { result }, streamRequestId);
      continue;
    }
    const received = await recordAnswer(deps.engine, { caller, id, result, conversationId, admitted });
    if (received.type === 'refused') misfits.push(received.error);
  }
  return misfits;
}
