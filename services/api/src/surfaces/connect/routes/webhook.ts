import { isParleyError } from '@parley/shared/domain/errors';
import { endFlow } from '../flows/ending.ts';
import { reportName } from '../flows/flows.ts';
import { findAsked } from './access.ts';
import { readBytes } from './form.ts';
import type { Parts } from './parts.ts';
import type { Answer, Visit } from './visit.ts';

const WEBHOOK_BYTES_MAX = 256 * 1024;
const TAKEN: Answer = { type: 'empty', status: 204 };
const LATER: Answer = { type: 'empty', status: 503 };

/**
 * `POST /auth/webhooks/:connectorId`: a provider reports by itself. What it says is believed when it is signed, belongs
 * to a flow of ours, and is so when asked again. A repeat changes nothing; only what may succeed later is refused.
 */
export async function webhook(parts: Parts, visit: Visit): Promise<Answer> {
  const connectorId = visit.param;
  const connector = parts.targets.connector(connectorId);
  if (connector?.webhook === undefined) return { type: 'empty', status: 404 };
  const raw = await readBytes(visit.req, WEBHOOK_BYTES_MAX);
  if (raw === undefined) return { type: 'empty', status: 413 };
  const verdict = connector.webhook(raw, visit.req.headers);
  if (verdict.type === 'refused')
    return { type: 'empty', status: verdict.reason === 'signature' ? 401 : 400 };
  if (verdict.type === 'ignored') return TAKEN;

  const { event } = verdict;
  const name = reportName({ connectorId, flowId: event.flowId });
  const [found, keep] = await Promise.all([parts.flows.find(name), parts.flows.keepOf(name)]);
  // Not begun here, ended before, or of a browser that is yet to be known: that one looks by itself.
  if (found === undefined || keep === undefined || parts.identity.type === 'bound') return TAKEN;
  const { flow } = found;
  const asked = await findAsked(parts, flow.elicitationId);
  if (asked?.target.connector.id !== connectorId) return TAKEN;
  if (asked.row.status === 'accepted') return TAKEN;
  const result = await connector.finish({ type: 'event', event }, keep);
  if (result.type === 'failed') {
    const { code, detail } = result;
    parts.onEvent({ type: 'failed', code, elicitationId: flow.elicitationId, connectorId, detail });
    return code === 'unavailable' ? LATER : TAKEN;
  }
  try {
    await endFlow(parts, flow, flow.elicitationId, result.credential);
    await parts.flows.end(name);
  } catch (error) {
    if (!isParleyError(error, 'unavailable')) throw error;
    return LATER;
  }
  return TAKEN;
}
