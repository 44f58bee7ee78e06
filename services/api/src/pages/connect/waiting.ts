import type { PageEntryName } from '@parley/shared/ports/page-store';
import { type Flow, reportName } from '../../accounts/flows/flows.ts';
import { connectPath } from '../../accounts/own-pages.ts';
import { type Admitted, admit, spend } from '../serving/access.ts';
import { fingerprintOf } from '../serving/browser.ts';
import type { Parts } from '../serving/parts.ts';
import { type PageReply, page, single, type Visit } from '../serving/visit.ts';
import { failed, finishFlow } from './finish.ts';

const WAITING_MS = 60 * 60_000;
// The page polls automatically. After this many polls it returns to the start, so that the person can begin again.
const POLLS_MAX = 12;

/** Records that a browser waits for the provider's report. */
export async function noteWaiting({ store }: Parts, visit: Visit, flow: Flow): Promise<void> {
  const { tenant, userId } = flow;
  await store.put(nameOf(visit, flow.elicitationId), flow.flowId, WAITING_MS, { tenant, userId });
}

/** True while this browser waits for the report on a question. */
export async function isWaiting(parts: Parts, visit: Visit, { row, target }: Admitted): Promise<boolean> {
  if (target.connector.poll === undefined || visit.browser.isNew) return false;
  return (await parts.store.read(nameOf(visit, row.id))) !== undefined;
}

/** `GET /auth/connect/:id/waiting`: polls the provider, in case its report was lost. */
export async function waiting(parts: Parts, visit: Visit): Promise<PageReply> {
  const id = visit.param;
  const admitted = await admit(parts, visit, id);
  if (admitted.type === 'shown') return page(admitted.view);
  await spend(parts, admitted);
  const { connector } = admitted.target;
  const waits = nameOf(visit, id);
  const flowId = (await parts.store.read(waits))?.value;
  const name = reportName({ connectorId: connector.id, flowId: flowId ?? '' });
  const [found, callbackState] = await Promise.all([
    parts.flows.find(name),
    parts.flows.callbackStateOf(name),
  ]);
  if (connector.poll === undefined || found === undefined || callbackState === undefined)
    return { type: 'moved', path: connectPath(id) };
  const { flow } = found;
  const result = await connector.poll(callbackState);
  if (result.type === 'pending') return pollLater(parts, visit, waits);
  if (result.type === 'failed') return failed(parts, visit, result, flow);
  const answer = await finishFlow(parts, { flow, target: admitted.target }, result);
  await Promise.all([parts.flows.end(name), parts.store.drop(waits)]);
  return answer;
}

async function pollLater({ store }: Parts, visit: Visit, waits: PageEntryName): Promise<PageReply> {
  const polls = Number(single(visit.query, 'look') ?? 1);
  const path = connectPath(visit.param);
  if (Number.isInteger(polls) && polls >= 1 && polls < POLLS_MAX)
    return page({ page: 'waiting', again: `${path}/waiting?look=${polls + 1}` });
  await store.drop(waits);
  return { type: 'moved', path };
}

function nameOf({ browser }: Visit, elicitationId: string): PageEntryName {
  return { family: 'waiting', id: JSON.stringify([fingerprintOf(browser), elicitationId]) };
}
