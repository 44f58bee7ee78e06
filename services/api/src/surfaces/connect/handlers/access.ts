import type { Row } from '@parley/shared/domain/elicitations/row';
import { isTerminal } from '@parley/shared/domain/elicitations/status';
import { bucketOfElicitationId, type Owner } from '@parley/shared/domain/ids';
import { hasBrought } from '../flows/ending.ts';
import type { Person } from '../identity/identity.ts';
import type { ConnectView } from '../pages/view.ts';
import type { ConnectTarget } from '../targets.ts';
import type { Parts } from './parts.ts';
import { connectPath, doorOf, type Visit } from './visit.ts';

/** A user that nobody can be. */
const UNKNOWN_USER = '\u0000connect';

/** A question of ours, and what it asks to connect. */
export interface RequestedFlow {
  readonly row: Row;
  readonly target: ConnectTarget;
  readonly owner: Owner;
}

/** Somebody who may act on a question; nobody known where the deployer's backend tells later. */
export interface Admitted extends RequestedFlow {
  readonly type: 'admitted';
  readonly person?: Person;
}

interface Shown {
  readonly type: 'shown';
  readonly view: ConnectView;
  /** Somebody is signed in, and it is not their question. */
  readonly mismatch?: true;
}

export interface AdmitOptions {
  /** Lets people in to a question that has ended; else they are shown how it ended. */
  readonly ended?: true;
}

/** Finds a question by its id, which anybody may have sent. Nothing for one that is not asked on our pages. */
export async function findAsked(
  parts: Parts,
  id: string,
): Promise<(RequestedFlow & { readonly now: number }) | undefined> {
  if (bucketOfElicitationId(id) === undefined) return undefined;
  const { row, now } = await parts.elicitations.read(id);
  if (row === undefined) return undefined;
  const { mode, completion, url, context, tenant, userId } = row.definition;
  // An asker's own page may be completed by the server as well: it is not for us to do that.
  const ours = mode === 'url' && completion === 'server' && url === `${parts.publicUrl}${connectPath(id)}`;
  const target = ours ? parts.targets.find(context.toolId ?? '') : undefined;
  return target === undefined ? undefined : { row, now, target, owner: { tenant, userId } };
}

/** Lets the owner of a question in; shows everybody else what they may see, which is nothing of it. */
export async function admit(
  parts: Parts,
  visit: Visit,
  id: string,
  options: AdmitOptions = {},
): Promise<Admitted | Shown> {
  const asked = await findAsked(parts, id);
  if (asked === undefined) return { type: 'shown', view: { page: 'not-found' } };
  const { row, now, target, owner } = asked;
  const isOver = isTerminal(row.status) || now >= row.expiresAt;
  const person = parts.identity.type === 'bound' ? undefined : await parts.sessions.person(visit.browser);
  if (parts.identity.type !== 'bound') {
    if (person === undefined)
      return { type: 'shown', view: isOver ? await endedView(parts, row) : signInView(parts, visit, id) };
    if (!isSame(person, owner)) {
      parts.onEvent({ type: 'mismatch', elicitationId: id, tenant: owner.tenant });
      return { type: 'shown', view: mismatchView(visit.browser, id), mismatch: true };
    }
  }
  if (isOver && options.ended !== true) return { type: 'shown', view: await endedView(parts, row, target) };
  return { type: 'admitted', row, target, owner, ...(person !== undefined && { person }) };
}

/** Takes what an answer over /v1 takes. Throws `rate_limited`. */
export async function spend(
  { callLimits, identity }: Parts,
  { row, owner }: Pick<RequestedFlow, 'row' | 'owner'>,
): Promise<void> {
  if (identity.type === 'bound') {
    // It may be anybody with the link: the owner's own budgets are not for them to use up.
    await callLimits.answer({ tenant: owner.tenant, userId: UNKNOWN_USER }, row.id);
    return;
  }
  await callLimits.call({ kind: 'user', ...owner }, true);
  await callLimits.answer(owner, row.id);
}

export function isSame(one: Owner, other: Owner): boolean {
  return one.tenant === other.tenant && one.userId === other.userId;
}

/** How a question ended. Names what was connected only to whoever may know: then `target` is given. */
export async function endedView(parts: Parts, row: Row, target?: ConnectTarget): Promise<ConnectView> {
  switch (row.status) {
    case 'accepted': {
      if (target === undefined) return { page: 'done' };
      const { tenant, userId } = row.definition;
      const ref = { tenant, userId, toolId: target.toolId, connectorId: target.connector.id };
      return (await hasBrought(parts, ref, row)) ? doneView(parts, row.id, target) : { page: 'settled' };
    }
    case 'declined':
      return { page: 'declined' };
    case 'cancelled':
    case 'withdrawn':
      return { page: 'settled' };
    default:
      return { page: 'expired' };
  }
}

/** Connected, and the chat goes on. */
export function doneView(
  { tellOrigins }: Parts,
  elicitationId: string,
  target: ConnectTarget,
  withheldScopes: readonly string[] = [],
): ConnectView & { page: 'done' } {
  return {
    page: 'done',
    ...(target.kind === 'credential' && { service: target.service }),
    elicitationId,
    ...(tellOrigins.length > 0 && { tell: tellOrigins }),
    ...(withheldScopes.length > 0 && { withheldScopes }),
  };
}

/** The way to sign in. `anew`: whoever is signed in there is not to be taken for granted. */
export function signInView(
  { identity }: Parts,
  { browser }: { readonly browser: Pick<Visit['browser'], 'id'> },
  id: string,
  anew = false,
): ConnectView {
  const signIn = doorOf(browser, `${connectPath(id)}/sign-in${anew ? '?anew=1' : ''}`);
  return identity.type === 'provider'
    ? { page: 'sign-in', signIn, organisation: identity.organisation }
    : { page: 'dev-sign-in', signIn };
}

export function mismatchView(browser: Pick<Visit['browser'], 'id'>, id: string): ConnectView {
  return { page: 'mismatch', signOut: doorOf(browser, `/auth/sign-out?elicitationId=${id}`) };
}
