import { failure } from '../../accounts/connector.ts';
import { type Flow, flowName } from '../../accounts/flows/flows.ts';
import { type Admitted, admit, endedView } from '../serving/access.ts';
import { fingerprintOf } from '../serving/browser.ts';
import type { Parts } from '../serving/parts.ts';
import { type PageReply, page, single, type Visit } from '../serving/visit.ts';
import { failed, finishFlow } from './finish.ts';

/** `GET /auth/callback/:connectorId`: the return from the provider. */
export async function callback(parts: Parts, visit: Visit): Promise<PageReply> {
  const connectorId = visit.param;
  const name = flowName(single(visit.query, 'state') ?? '');
  const found = await parts.flows.find(name);
  // Both cases show the same page, so that it does not reveal whether the flow exists.
  if (found === undefined || found.flow.browser !== fingerprintOf(visit.browser)) {
    const detail = 'the flow belongs to another browser, or to none';
    parts.onEvent({ type: 'failed', code: 'bad_state', connectorId, detail });
    return page({ page: 'failed', reason: 'bad_state', requestId: visit.requestId });
  }
  const { flow } = found;
  const admitted = await admit(parts, visit, flow.elicitationId, { ended: true });
  if (admitted.type === 'shown') return page(admitted.view);
  // This happens, for example, in the second of two tabs. The credential from the first tab is not replaced.
  if (admitted.row.status === 'accepted') return page(await endedView(parts, admitted.row, admitted.target));
  const callbackState =
    flow.connectorId === connectorId && fits(flow, admitted) ? await parts.flows.take(name) : undefined;
  if (callbackState === undefined) return stateOf(parts, visit, flow);
  const url = `${parts.publicUrl}${visit.head.url}`;
  const result = await admitted.target.connector.finish({ type: 'callback', url }, callbackState);
  return result.type === 'connected'
    ? finishFlow(parts, { flow, target: admitted.target }, result)
    : failed(parts, visit, result, flow);
}

/** True if the flow still matches what the question asks for. The configuration may have changed since the flow began. */
function fits(flow: Flow, { target, owner }: Admitted): boolean {
  const same = flow.toolId === target.toolId && flow.connectorId === target.connector.id;
  return same && flow.tenant === owner.tenant && flow.userId === owner.userId;
}

/** The page for a callback without effect, which shows the state of the question. */
async function stateOf(parts: Parts, visit: Visit, flow: Flow): Promise<PageReply> {
  const now = await admit(parts, visit, flow.elicitationId);
  if (now.type === 'shown') return page(now.view);
  const reused = failure('bad_state', 'the callback was used before, or is for another connector');
  return failed(parts, visit, reused, flow);
}
