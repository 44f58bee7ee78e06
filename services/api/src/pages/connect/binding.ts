/**
 * Session binding: holds back what a browser did until the deployer's backend says whose browser it is. Sign-in at a provider
 * is in `pages/sign-in`.
 */

import { randomBytes } from 'node:crypto';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import { ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import { isSameOwner } from '@parley/core/domain/ids';
import { parsed } from '@parley/core/domain/parsed';
import { type Caller, notFound } from '@parley/shared/domain/caller';
import type { Credential } from '@parley/shared/domain/credential';
import { type Row, toWire } from '@parley/shared/domain/elicitations/row';
import type { FlowRef } from '@parley/shared/ports/vault';
import { z } from 'zod';
import { knownFlowId } from '../../accounts/flow-id.ts';
import { CONNECT_SURFACE } from '../../accounts/flows/complete-open.ts';
import { conclude, type Ending, earlierEnding, endFlow, STAGED_MS } from '../../accounts/flows/ending.ts';
import type { Flow } from '../../accounts/flows/flows.ts';
import { BINDING_MS } from '../../accounts/flows/sweep.ts';
import { bindingUrlOf } from '../identity/bound.ts';
import type { BoundIdentity } from '../identity/identity.ts';
import type { Parts } from '../serving/parts.ts';
import { type PageReply, type ProgramAnswer, page } from '../serving/visit.ts';

const Binding = z.object({
  elicitationId: z.string(),
  tenant: z.string(),
  userId: z.string(),
  /** The connection that the browser made; absent if it declined. */
  connection: z.object({ flowId: z.string(), toolId: z.string(), connectorId: z.string() }).optional(),
});
type Binding = z.infer<typeof Binding>;

export const BindingReport = z.strictObject({ session: z.string().min(1).max(128) });
export type BindingReport = z.infer<typeof BindingReport>;

/** Stages a browser's credential until its person is known, and sends the browser to the page that identifies the person. */
export async function bindConnection(
  parts: Parts,
  identity: BoundIdentity,
  flow: Flow,
  credential: Credential,
): Promise<PageReply> {
  const { elicitationId, tenant, userId, toolId, connectorId, flowId } = flow;
  await parts.vault.stage({ tenant, userId, toolId, connectorId, flowId }, credential, STAGED_MS);
  const connection = { flowId, toolId, connectorId };
  return bind(parts, identity, { elicitationId, tenant, userId, connection });
}

/** Stores a browser's refusal until its person is known, and sends the browser to the page that identifies the person. */
export function bindDecline(
  parts: Parts,
  identity: BoundIdentity,
  owner: Owner,
  elicitationId: string,
): Promise<PageReply> {
  return bind(parts, identity, { elicitationId, ...owner });
}

async function bind(parts: Parts, identity: BoundIdentity, binding: Binding): Promise<PageReply> {
  const session = randomBytes(32).toString('base64url');
  const { tenant, userId } = binding;
  const name = { family: 'binding', id: session } as const;
  await parts.store.put(name, JSON.stringify(binding), BINDING_MS, { tenant, userId });
  return page({
    page: 'continue',
    url: bindingUrlOf(identity, session),
    origin: new URL(identity.url).origin,
  });
}

/**
 * `POST /auth/complete` with the person's own token: reports to whom the browser belongs. If the question is that person's,
 * ends what the browser began; otherwise does nothing. A repeated call gets the same reply.
 */
export async function complete(
  parts: Parts,
  user: Caller & { readonly kind: 'user' },
  { session }: BindingReport,
): Promise<ProgramAnswer> {
  const entry = await parts.store.read({ family: 'binding', id: session });
  const binding = entry === undefined ? undefined : parsed(Binding, entry.value);
  if (parts.identity.type !== 'bound' || binding === undefined) throw notFound();
  const { elicitationId, tenant } = binding;
  if (!isSameOwner(binding, user)) {
    parts.onEvent({ type: 'mismatch', elicitationId, tenant });
    throw notFound();
  }
  if (binding.connection === undefined) return declineAs(parts, user, binding);
  const ending = await connectAs(parts, binding, binding.connection);
  const { row, now } = await parts.elicitations.read(elicitationId);
  if (row === undefined) throw notFound();
  if (ending.type !== 'dropped') return wire(row, now);
  throw new ParleyError('already_settled', `This elicitation is already ${row.status}.`, {
    elicitation: toWire(row, { now, content: true }),
  });
}

async function connectAs(
  parts: Parts,
  { elicitationId, tenant, userId }: Binding,
  connection: NonNullable<Binding['connection']>,
): Promise<Ending> {
  const ref = { tenant, userId, toolId: connection.toolId, connectorId: connection.connectorId };
  const known = { ...ref, flowId: knownFlowId(elicitationId) };
  const unknown = { ...ref, flowId: connection.flowId };
  const staged = await parts.vault.staged(unknown);
  if (staged === undefined) return endedBefore(parts, known, elicitationId);
  const ending = await endFlow(parts, known, elicitationId, staged.reveal());
  // This comes last, so that an interrupted call can be repeated.
  await parts.vault.drop(unknown);
  return ending;
}

/** How the question ended, if an earlier call ended it or the time for the call has passed. */
async function endedBefore(parts: Parts, known: FlowRef, elicitationId: string): Promise<Ending> {
  const { row } = await parts.elicitations.read(elicitationId);
  if (row !== undefined && isTerminal(row.status))
    return (await earlierEnding(parts, known, row)) ?? conclude(parts, known, elicitationId);
  throw new ParleyError('not_found', 'What was connected is gone; have the person open the link again.');
}

async function declineAs(
  parts: Parts,
  caller: Caller & { kind: 'user' },
  { elicitationId, tenant }: Binding,
): Promise<ProgramAnswer> {
  const response = { action: 'decline' } as const;
  const { row, now } = await parts.engine.answer({
    caller,
    id: elicitationId,
    response,
    surface: CONNECT_SURFACE,
  });
  parts.onEvent({ type: 'declined', elicitationId, tenant });
  return wire(row, now);
}

function wire(row: Row, now: number): ProgramAnswer {
  return { type: 'json', status: 200, body: toWire(row, { now, content: true }) };
}
