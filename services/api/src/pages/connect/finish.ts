import type { Connected, ConnectorFailure } from '../../accounts/connector.ts';
import { type Ending, endFlow } from '../../accounts/flows/ending.ts';
import type { Flow } from '../../accounts/flows/flows.ts';
import { connectPath } from '../../accounts/own-pages.ts';
import type { AccountTarget } from '../../accounts/targets.ts';
import { doneView } from '../serving/access.ts';
import type { Parts } from '../serving/parts.ts';
import { type PageReply, page, type Visit } from '../serving/visit.ts';
import type { PageView } from '../views/view.ts';
import { bindConnection } from './binding.ts';

/** The state with which a person returned. */
interface Returned {
  readonly flow: Flow;
  readonly target: AccountTarget;
}

/**
 * Ends a flow that brought a credential. With session binding, the person is not known yet: the credential stays staged until
 * the deployer's backend reports the person.
 */
export async function finishFlow(
  parts: Parts,
  { flow, target }: Returned,
  { credential, withheldScopes }: Connected,
): Promise<PageReply> {
  if (parts.identity.type === 'bound') return bindConnection(parts, parts.identity, flow, credential);
  const ending = await endFlow(parts, flow, flow.elicitationId, credential);
  return page(viewOfEnding(parts, ending, { elicitationId: flow.elicitationId, target, withheldScopes }));
}

interface FinishedFlow extends Pick<Connected, 'withheldScopes'> {
  readonly elicitationId: string;
  readonly target: AccountTarget;
}

function viewOfEnding(
  parts: Parts,
  ending: Ending,
  { elicitationId, target, withheldScopes }: FinishedFlow,
): PageView {
  if (ending.type === 'dropped') {
    if (ending.status === undefined) return { page: 'not-found' };
    const { status } = ending;
    return { page: status === 'declined' || status === 'expired' ? status : 'settled' };
  }
  const done = doneView(parts, elicitationId, target, withheldScopes);
  return ending.type === 'kept' ? { ...done, kept: true } : done;
}

/** Reports a flow that failed, and shows the page for it. */
export function failed(parts: Parts, visit: Visit, failure: ConnectorFailure, flow: Flow): PageReply {
  noteFailure(parts, failure, flow);
  return page(failedView(visit, failure, flow));
}

/** Reports a flow that failed to the logs. */
export function noteFailure(
  { onEvent }: Pick<Parts, 'onEvent'>,
  { code, detail, providerError }: ConnectorFailure,
  { elicitationId, connectorId }: Pick<Flow, 'elicitationId' | 'connectorId'>,
): void {
  const said = providerError !== undefined && { providerError };
  onEvent({ type: 'failed', code, elicitationId, connectorId, detail, ...said });
}

/** The page for a flow that failed. The question is still open, and the person can try again. */
export function failedView(
  { requestId }: Visit,
  { code, providerError }: ConnectorFailure,
  { elicitationId }: Pick<Flow, 'elicitationId'>,
): PageView {
  const said = providerError !== undefined && { providerError };
  return { page: 'failed', reason: code, retry: connectPath(elicitationId), requestId, ...said };
}
