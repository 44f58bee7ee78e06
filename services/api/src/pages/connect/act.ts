/**
 * The posts of the connect page: start, secret, decline. Showing the page is in `show.ts`, the return from the provider in
 * `callback.ts`.
 */

import { isParleyError } from '@parley/core/domain/errors';
import { knownFlowId, unknownFlowId } from '../../accounts/flow-id.ts';
import { CONNECT_SURFACE } from '../../accounts/flows/complete-open.ts';
import { type Flow, flowName, reportName } from '../../accounts/flows/flows.ts';
import { connectPath, scopeOf } from '../../accounts/own-pages.ts';
import { FORM_FIELDS } from '../kit/fields.ts';
import { type Admitted, admit, endedView, spend } from '../serving/access.ts';
import { countFailure } from '../serving/attempts.ts';
import { fingerprintOf } from '../serving/browser.ts';
import { readForm } from '../serving/form.ts';
import type { Parts } from '../serving/parts.ts';
import { type PageReply, page, single, type Visit } from '../serving/visit.ts';
import type { PageView } from '../views/view.ts';
import { bindDecline } from './binding.ts';
import { failed, failedView, finishFlow, noteFailure } from './finish.ts';
import { secretFormOf, secretView } from './show.ts';
import { noteWaiting } from './waiting.ts';

/** `POST /auth/connect/:id/start`: the person agreed, so the browser is redirected to the provider. */
export async function start(parts: Parts, visit: Visit): Promise<PageReply> {
  const entered = await enter(parts, visit);
  if ('view' in entered) return page(entered.view);
  const { admitted } = entered;
  const unopened = await markOpened(parts, admitted);
  if (unopened !== undefined) return page(unopened);
  const flow = flowOf(parts, visit, admitted);
  const { flowId, tenant } = flow;
  const begun = await admitted.target.connector.begin({ flowId, tenant, scope: scopeOf(admitted.row) });
  if (begun.type === 'failed') return failed(parts, visit, begun, flow);
  if (begun.type === 'form') return page(secretView(visit, admitted, begun));
  if (begun.state !== undefined) await parts.flows.begin(flowName(begun.state), flow, begun.callbackState);
  else {
    await parts.flows.begin(reportName(flow), flow, begun.callbackState);
    await noteWaiting(parts, visit, flow);
  }
  return page({ page: 'continue', url: begun.url, origin: new URL(begun.url).origin });
}

/** `POST /auth/connect/:id/secret`: receives the key that the person typed. */
export async function takeSecret(parts: Parts, visit: Visit): Promise<PageReply> {
  const entered = await enter(parts, visit);
  if ('view' in entered) return page(entered.view);
  const { admitted, fields } = entered;
  const form = admitted.target.connector.kind === 'api_key' ? await secretFormOf(admitted) : undefined;
  if (form === undefined) return page({ page: 'not-found' });
  const secret = single(fields, FORM_FIELDS.secret) ?? '';
  if (secret.trim() === '') return page(secretView(visit, admitted, form, 'empty'));
  const unopened = await markOpened(parts, admitted);
  if (unopened !== undefined) return page(unopened);
  const flow = flowOf(parts, visit, admitted);
  const result = await admitted.target.connector.finish({ type: 'form', secret }, form.callbackState);
  if (result.type === 'connected') return finishFlow(parts, { flow, target: admitted.target }, result);
  noteFailure(parts, result, flow);
  if (result.code === 'unavailable') return page(secretView(visit, admitted, form, 'unavailable'));
  if (result.code !== 'rejected_key') return page(failedView(visit, result, flow));
  return page((await countFailure(parts, visit)) ?? secretView(visit, admitted, form, 'rejected'));
}

/** `POST /auth/connect/:id/decline`: declines explicitly. */
export async function decline(parts: Parts, visit: Visit): Promise<PageReply> {
  const entered = await enter(parts, visit);
  if ('view' in entered) return page(entered.view);
  const { row, owner } = entered.admitted;
  if (parts.identity.type === 'bound') return bindDecline(parts, parts.identity, owner, row.id);
  const refused = await respond(parts, entered.admitted, 'decline');
  if (refused !== undefined) return page(refused);
  parts.onEvent({ type: 'declined', elicitationId: row.id, tenant: owner.tenant });
  return page({ page: 'declined' });
}

/**
 * The posted form, and what it is about, for a person who may act; for everybody else, the page to show. Throws `rate_limited`.
 */
async function enter(
  parts: Parts,
  visit: Visit,
): Promise<{ readonly admitted: Admitted; readonly fields: URLSearchParams } | { readonly view: PageView }> {
  const form = await readForm(parts, visit, connectPath(visit.param));
  if ('view' in form) return form;
  const admitted = await admit(parts, visit, visit.param);
  if (admitted.type === 'admitted') {
    await spend(parts, admitted);
    return { admitted, fields: form.fields };
  }
  if (admitted.mismatch !== true) return { view: admitted.view };
  return { view: (await countFailure(parts, visit)) ?? admitted.view };
}

/** Records that the owner agreed to continue. Nothing is recorded for a person who is not yet known. */
async function markOpened(parts: Parts, admitted: Admitted): Promise<PageView | undefined> {
  return parts.identity.type === 'bound' ? undefined : respond(parts, admitted, 'accept');
}

/** Answers as the owner. Returns the page to show if the question has ended in another way. */
async function respond(
  parts: Parts,
  { row, owner, target }: Admitted,
  action: 'accept' | 'decline',
): Promise<PageView | undefined> {
  const caller = { kind: 'user', ...owner } as const;
  try {
    await parts.engine.answer({ caller, id: row.id, response: { action }, surface: CONNECT_SURFACE });
    return undefined;
  } catch (error) {
    if (isParleyError(error, 'not_found')) return { page: 'not-found' };
    if (isParleyError(error, 'expired')) return { page: 'expired' };
    if (!isParleyError(error, 'already_settled') || error.elicitation === undefined) throw error;
    return endedView(parts, { ...row, status: error.elicitation.status }, target);
  }
}

function flowOf({ identity }: Parts, { browser }: Visit, { row, owner, target }: Admitted): Flow {
  const flowId = identity.type === 'bound' ? unknownFlowId(row.id) : knownFlowId(row.id);
  const { toolId, connector } = target;
  return {
    browser: fingerprintOf(browser),
    elicitationId: row.id,
    flowId,
    ...owner,
    toolId,
    connectorId: connector.id,
  };
}
