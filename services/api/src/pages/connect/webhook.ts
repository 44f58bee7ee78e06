import { type ErrorCode, isParleyError, ParleyError } from '@parley/core/domain/errors';
import type { WebhookVerdict } from '../../accounts/connector.ts';
import { endFlow } from '../../accounts/flows/ending.ts';
import { reportName } from '../../accounts/flows/flows.ts';
import type { VerifySignature } from '../../http/route.ts';
import { findAsked } from '../serving/access.ts';
import type { Parts } from '../serving/parts.ts';
import type { ProgramAnswer } from '../serving/visit.ts';

const TAKEN: ProgramAnswer = { type: 'empty', status: 204 };
const LATER: ProgramAnswer = { type: 'empty', status: 503 };

type Report = Exclude<WebhookVerdict, { type: 'refused' }>;

/**
 * The verification of reports from a connector's provider; undefined for a connector without reports. It throws errors that
 * `refusalOf` maps.
 */
export function verifierOf({ targets }: Parts, connectorId: string): VerifySignature<Report> | undefined {
  const connector = targets.connector(connectorId);
  if (connector?.webhook === undefined) return undefined;
  const read = connector.webhook.bind(connector);
  return (raw, { headers }) => {
    const verdict = read(raw, headers);
    if (verdict.type !== 'refused') return verdict;
    const code = verdict.reason === 'signature' ? 'unauthenticated' : 'invalid_request';
    throw new ParleyError(code, 'The report is not one of the provider.');
  };
}

/** Providers get a status and no body. */
const STATUSES: Readonly<Partial<Record<ErrorCode, number>>> = {
  not_found: 404,
  too_large: 413,
  unauthenticated: 401,
  invalid_request: 400,
};

/** The reply for a report that is refused; undefined for other errors. */
export function refusalOf(error: unknown): ProgramAnswer | undefined {
  const status = isParleyError(error) ? STATUSES[error.code] : undefined;
  return status === undefined ? undefined : { type: 'empty', status };
}

/**
 * `POST /auth/webhooks/:connectorId`: receives a provider's report. It has an effect only if it is signed, belongs to a known
 * flow, and the provider confirms it when asked. A repeat changes nothing. Replies 503 only if a retry may succeed.
 */
export async function webhook(parts: Parts, connectorId: string, report: Report): Promise<ProgramAnswer> {
  const connector = parts.targets.connector(connectorId);
  if (connector === undefined || report.type === 'ignored') return TAKEN;
  const { event } = report;
  const name = reportName({ connectorId, flowId: event.flowId });
  const [found, callbackState] = await Promise.all([
    parts.flows.find(name),
    parts.flows.callbackStateOf(name),
  ]);
  // The flow did not begin here, has ended, or uses session binding, with which the browser polls.
  if (found === undefined || callbackState === undefined || parts.identity.type === 'bound') return TAKEN;
  const { flow } = found;
  const asked = await findAsked(parts, flow.elicitationId);
  if (asked?.target.connector.id !== connectorId) return TAKEN;
  if (asked.row.status === 'accepted') return TAKEN;
  const result = await connector.finish({ type: 'event', event }, callbackState);
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
