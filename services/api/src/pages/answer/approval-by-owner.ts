import { isApprovalId } from '@parley/core/domain/ids';
import { unlessMissing } from '@parley/shared/domain/caller';
import { answerPath, FROM_INBOX } from '../../accounts/own-pages.ts';
import type { Person } from '../identity/identity.ts';
import { nextPath } from '../inbox/waiting-items.ts';
import { signInView } from '../serving/access.ts';
import type { Parts } from '../serving/parts.ts';
import { buildFormTarget, type Visit } from '../serving/visit.ts';
import type { ApprovalEntrance, FoundApproval } from './approval.ts';
import { BY_OWNER } from './by-owner.ts';

/** The entrance of the person who decides, signed in as on the connect page. */
export const APPROVAL_BY_OWNER: ApprovalEntrance<Parts> = {
  surface: BY_OWNER.surface,
  remembers: true,
  find: findByOwner,
  pathOf: answerPath,
  next: async (parts, { query }, owner) => (query.has(FROM_INBOX) ? nextPath(parts, owner) : undefined),
};

/** An unknown id and the id of another person's approval lead to the same page, also before the sign-in. */
async function findByOwner(parts: Parts, visit: Visit): Promise<FoundApproval> {
  const { param: id, browser } = visit;
  if (!isApprovalId(id)) return { view: { page: 'not-found' } };
  const person = await parts.sessions.person(browser);
  if (person === undefined) return { view: signInView(parts, visit, { about: 'answer', elicitationId: id }) };
  const seen = await readOwn(parts, person, id);
  if (seen !== undefined) return { seen, person: person.name };
  const signOut = buildFormTarget(browser, `${answerPath(id)}/sign-out`);
  return { view: { page: 'not-found', signOut }, isMissing: true };
}

/** True if the signed-in person may decide on the approval. */
export async function isDecider(parts: Parts, { browser, param: id }: Visit): Promise<boolean> {
  const person = await parts.sessions.person(browser);
  return person !== undefined && (await readOwn(parts, person, id)) !== undefined;
}

function readOwn({ engine }: Parts, { tenant, userId }: Person, id: string) {
  return unlessMissing(engine.approvals.read({ kind: 'user', tenant, userId }, id));
}
