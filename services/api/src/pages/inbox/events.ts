import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { isSameOwner } from '@parley/core/domain/ids';
import { whenAborted } from '@parley/shared/async/release-on-abort';
import type { Caller } from '@parley/shared/domain/caller';
import type { InboxItem } from '@parley/shared/elicitations/inbox';
import { CALL_OVER } from '../../http/life/request-life.ts';
import { inStreamPlace, type StreamPlace } from '../../http/limits/stream-places.ts';
import { type RequestHead, type Route, route } from '../../http/route.ts';
import type { SseFrameEvent } from '../../http/sse.ts';
import { unauthenticated } from '../../http/token.ts';
import { isOfOwnPage } from '../serving/form.ts';
import type { Parts } from '../serving/parts.ts';

type PersonAsCaller = Caller & { readonly kind: 'user' };

// How often an open stream checks whether its session has ended, in ms.
const SESSION_CHECK_MS = 60_000;

/**
 * `GET /auth/inbox/events`: tells a signed-in person's page that the inbox has changed, and how a record ended. The page then
 * fetches itself again. The first event comes at once, because the page is older than its stream.
 */
export function inboxEventsRoute(parts: Parts, where: Pick<Route, 'method' | 'path'>): Route {
  return route<undefined, undefined, PersonAsCaller>({
    ...where,
    proof: { by: 'session', read: (head) => personOf(parts, head) },
    opensStream: true,
    async handle({ caller, head, whenOver }) {
      await parts.callLimits.opening(caller);
      const { tenant, userId } = caller;
      const reader = { stream: 'inbox', returns: false };
      const isSignedIn = () => hasSession(parts, head, caller);
      return inStreamPlace(parts.callLimits, { caller, whenOver }, reader, async (place) => ({
        type: 'events',
        isFollowed: true,
        events: whileSignedIn(
          (ending) => parts.engine.watchInbox({ owner: { tenant, userId }, signal: ending }),
          place,
          isSignedIn,
        ),
      }));
    },
  });
}

/** The signed-in person, as the caller against whose budgets and places the stream counts. Throws `unauthenticated`. */
async function personOf(
  { cookie, sessions, identity, publicUrl }: Parts,
  head: RequestHead,
): Promise<PersonAsCaller> {
  const browser = cookie.read(head);
  if (browser.isNew || identity.type === 'bound' || !isOfOwnPage(head, publicUrl)) throw unauthenticated();
  const person = await sessions.person(browser);
  if (person === undefined) throw unauthenticated();
  return { kind: 'user', tenant: person.tenant, userId: person.userId };
}

async function hasSession({ cookie, sessions }: Parts, head: RequestHead, owner: PersonAsCaller) {
  const person = await sessions.person(cookie.read(head));
  return person !== undefined && isSameOwner(person, owner);
}

/** The events of a stream. After the end of its session it sends none, and it is cut within a minute. */
async function* whileSignedIn(
  itemsUntil: (ending: AbortSignal) => AsyncIterable<InboxItem>,
  { release, signal }: StreamPlace,
  isSignedIn: () => Promise<boolean>,
): AsyncGenerator<SseFrameEvent, 'cut'> {
  const ending = new AbortController();
  const end = () => ending.abort(CALL_OVER);
  // While the store is unavailable the session cannot be checked, so nothing is sent.
  const check = () =>
    void isSignedIn().then(
      (is) => is || end(),
      () => undefined,
    );
  const checking = setInterval(check, SESSION_CHECK_MS).unref();
  const forget = whenAborted(signal, end);
  try {
    for await (const item of itemsUntil(ending.signal)) {
      const data = changeOf(item);
      if (data === undefined) continue;
      if (!(await isSignedIn())) return 'cut';
      yield { event: 'changed', data };
    }
    return 'cut';
  } catch (error) {
    if (!ending.signal.aborted) throw error;
    return 'cut';
  } finally {
    clearInterval(checking);
    forget();
    release();
  }
}

/** The data for the page: nothing of a record except how a call has ended. */
function changeOf(item: InboxItem): { readonly id?: string; readonly status?: string } | undefined {
  if (item.type === 'snapshot') return item.more ? undefined : {};
  if (item.type === 'change' || !isApprovalEnded(item.approval.status)) return {};
  return { id: item.approval.approvalId, status: item.approval.status };
}
