/**
 * The routes with which operators read and end questions and approvals. Lists are in `list-routes.ts`, turns in
 * `turn-routes.ts`.
 */

import { TIMEOUT_SECONDS_MAX } from '@parley/core/domain/elicitations/ask-input';
import { isParleyError, ParleyError } from '@parley/core/domain/errors';
import { bucketOf, bucketOfRecordId, isApprovalId } from '@parley/core/domain/ids';
import { type Caller, notFound } from '@parley/shared/domain/caller';
import { WithdrawReason } from '@parley/shared/domain/elicitations/response-input';
import { webhookIdOf } from '@parley/shared/domain/webhooks/webhook';
import type { StoredRecord } from '@parley/shared/ports/elicitations/elicitations';
import { z } from 'zod';
import { json, jsonBody, type Route } from '../../http/route.ts';
import { adminRoute } from './admin-route.ts';
import { type AdminDeps, mayReadContent } from './deps.ts';
import { SAMPLE_ADMIN_APPROVAL, SAMPLE_ADMIN_ELICITATION } from './examples.ts';
import { factsOfRecord } from './facts.ts';
import { HistoryEvent, readHistory } from './history.ts';
import { agentsOf } from './load.ts';
import { Redelivered, RedeliverInput, redeliver } from './redeliver.ts';
import { AdminApproval, approvalView } from './views/approval-view.ts';
import { AdminElicitation, elicitationView } from './views/elicitation-view.ts';
import { REASONS_DOCS, REASONS_EXAMPLE, reasonsReply } from './views/reasons.ts';

const OperatorWithdrawal = z
  .strictObject({ reason: WithdrawReason.default('withdrawn_by_operator') })
  .meta({ id: 'OperatorWithdrawal' });

const Extension = z
  .strictObject({
    seconds: z.int().min(1).max(TIMEOUT_SECONDS_MAX).describe('How much later than it is.'),
    reason: WithdrawReason.optional().describe('A short word for the log.'),
  })
  .meta({ id: 'ExtensionInput' });

/** The members in which an open sample differs from an ended one. */
const OPEN_SAMPLE = { status: 'pending', decision: undefined, surface: undefined, settledAt: undefined };

const History = {
  history: z.array(HistoryEvent).describe('Every change, first to last.'),
  isHistoryWhole: z
    .boolean()
    .describe('False where the stream request has too many events to be read to its end.'),
};

/** The parts in which the routes of the two families differ. */
interface AdminFamily {
  /** Name of the family in paths and replies. */
  readonly family: 'elicitation' | 'approval';
  readonly path: string;
  readonly noun: string;
  readonly schema: z.ZodObject;
  readonly sample: object;
}

const KINDS: readonly AdminFamily[] = [
  {
    family: 'elicitation',
    path: '/v1/admin/elicitations/:id',
    noun: 'a question',
    schema: AdminElicitation,
    sample: SAMPLE_ADMIN_ELICITATION,
  },
  {
    family: 'approval',
    path: '/v1/admin/approvals/:id',
    noun: 'an approval',
    schema: AdminApproval,
    sample: SAMPLE_ADMIN_APPROVAL,
  },
];

/** The routes with which an operator reads and ends one record. */
export function recordRoutes(deps: AdminDeps): Route[] {
  return KINDS.flatMap((kind) => [
    readRoute(deps, kind),
    whyRoute(deps, kind),
    withdrawRoute(deps, kind),
    extendRoute(deps, kind),
    redeliverRoute(deps, kind),
  ]);
}

interface FoundRecord {
  readonly record: StoredRecord;
  readonly now: number;
}

function isIdOf(family: AdminFamily['family'], id: string): boolean {
  return bucketOfRecordId(id) !== undefined && isApprovalId(id) === (family === 'approval');
}

async function find(
  { records }: AdminDeps,
  { tenant }: Caller,
  { family }: AdminFamily,
  id = '',
): Promise<FoundRecord> {
  if (!isIdOf(family, id)) throw notFound();
  const { records: found, now } = await records.readMany([id]);
  const [record] = found;
  if (record?.family !== family || record.row.definition.tenant !== tenant) throw notFound();
  return { record, now };
}

async function viewOf(deps: AdminDeps, caller: Caller, { record, now }: FoundRecord) {
  const content = mayReadContent(caller);
  if (record.family === 'approval') return approvalView(record.row, { now, content });
  const agents = await agentsOf(deps, [record.row]);
  return elicitationView(record.row, { now, agent: agents.get(record.row.id), content });
}

function readRoute(deps: AdminDeps, kind: AdminFamily): Route {
  const { family, noun, path, schema, sample } = kind;
  const example = {
    [family]: sample,
    history: [{ at: '2026-01-15T09:30:00.000Z', event: `${family}-request`, status: 'pending', revision: 1 }],
    isHistoryWhole: true,
  };
  return adminRoute({
    method: 'GET',
    path,
    docs: {
      summary: `Read ${noun} of any user, with its history`,
      example: { reply: example },
      replies: { 200: { description: 'As it stands', schema: z.object({ [family]: schema, ...History }) } },
      errors: ['not_found'],
    },
    async handle({ caller, params }) {
      const found = await find(deps, caller, kind, params.id);
      const { definition, id } = found.record.row;
      const [view, { history, isWhole }] = await Promise.all([
        viewOf(deps, caller, found),
        readHistory(deps, definition, id),
      ]);
      return json(200, { [family]: view, history, isHistoryWhole: isWhole });
    },
  });
}

function whyRoute(deps: AdminDeps, kind: AdminFamily): Route {
  return adminRoute({
    method: 'GET',
    path: `${kind.path}/why`,
    docs: {
      ...REASONS_DOCS,
      summary: `Read why ${kind.noun} waits, or how it ended`,
      example: { reply: REASONS_EXAMPLE },
    },
    async handle({ caller, params, header }) {
      const { record, now } = await find(deps, caller, kind, params.id);
      return reasonsReply(await factsOfRecord(deps, record, now), header);
    },
  });
}

/** Moves a record to another state. A refusal does not include the record, because that would contain the answer. */
async function move(change: () => Promise<unknown>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (isParleyError(error, 'already_settled') || isParleyError(error, 'expired'))
      throw new ParleyError(error.code, error.message);
    throw error;
  }
}

function withdrawRoute(deps: AdminDeps, kind: AdminFamily): Route {
  const { noun, path, schema, sample } = kind;
  return adminRoute({
    method: 'DELETE',
    path,
    body: jsonBody(OperatorWithdrawal, { optional: true }),
    docs: {
      summary: `Withdraw ${noun} of any user`,
      description:
        'Who waits for it goes on with the outcome `withdrawn`. Withdrawing it again changes nothing.',
      example: {
        body: { reason: 'asked_twice' },
        reply: { ...sample, status: 'withdrawn', reason: 'asked_twice' },
      },
      replies: { 200: { description: 'Withdrawn', schema } },
      errors: ['not_found', 'already_settled', 'expired'],
    },
    async handle({ caller, params, body }) {
      const { record, now } = await find(deps, caller, kind, params.id);
      const { id } = record.row;
      const seen = { ...record, now };
      await move(() => deps.engine.withdrawRecord({ caller, id, reason: body.reason, seen }));
      deps.onAct({ act: 'withdraw', subject: id, reason: body.reason }, caller);
      return json(200, await viewOf(deps, caller, await find(deps, caller, kind, id)));
    },
  });
}

function extendRoute(deps: AdminDeps, kind: AdminFamily): Route {
  const { noun, path, schema, sample } = kind;
  return adminRoute({
    method: 'POST',
    path: `${path}/extend`,
    body: jsonBody(Extension),
    docs: {
      summary: `Move the deadline of ${noun} of any user`,
      description: `So much later than it is, and at most ${TIMEOUT_SECONDS_MAX} seconds after the ask. Who waits for it waits longer.`,
      example: {
        body: { seconds: 900 },
        reply: { ...sample, ...OPEN_SAMPLE, expiresAt: '2026-01-15T10:15:00.000Z' },
      },
      replies: { 200: { description: 'With its later deadline', schema } },
      errors: ['not_found', 'already_settled', 'expired'],
    },
    async handle({ caller, params, body: { seconds, reason } }) {
      const { record, now } = await find(deps, caller, kind, params.id);
      const { id } = record.row;
      await move(() => deps.engine.extendRecord({ caller, id, seconds, seen: { ...record, now } }));
      deps.onAct({ act: 'extend', subject: id, seconds, ...(reason !== undefined && { reason }) }, caller);
      return json(200, await viewOf(deps, caller, await find(deps, caller, kind, id)));
    },
  });
}

function redeliverRoute(deps: AdminDeps, kind: AdminFamily): Route {
  return adminRoute({
    method: 'POST',
    path: `${kind.path}/redeliver`,
    body: jsonBody(RedeliverInput),
    docs: {
      summary: `Deliver ${kind.noun} again`,
      description:
        'By `webhook`: one that was given up or is tried again, at once and from its first attempt on. By the name of a channel, such as `slack`: its messages are brought up to date.',
      example: {
        body: { by: kind.family === 'approval' ? 'slack' : 'webhook' },
        reply: { outstanding: true },
      },
      replies: { 200: { description: 'On its way', schema: Redelivered } },
      errors: ['not_found'],
    },
    async handle({ caller, params, body: { by } }) {
      const { tenant } = caller;
      const { record } = await find(deps, caller, kind, params.id);
      const { id, definition } = record.row;
      const webhook = kind.family === 'elicitation' ? webhookIdOf(id) : undefined;
      await redeliver(deps, by, { tenant, subject: id, bucket: bucketOf(definition), webhook });
      deps.onAct({ act: 'redeliver', subject: id, reason: by }, caller);
      return json(200, { outstanding: true });
    },
  });
}
