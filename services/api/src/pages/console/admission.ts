import { ParleyError } from '@parley/core/domain/errors';
import { operatorCaller } from '@parley/shared/domain/caller';
import { hasScope } from '@parley/shared/domain/service-key';
import type { OperatorSessions } from '../../http/proof/operator-sessions.ts';
import type { RequestHead } from '../../http/route.ts';
import { unauthenticated } from '../../http/token.ts';
import { type Browser, isOurForm } from '../serving/browser.ts';
import { isOfOwnPage } from '../serving/form.ts';
import type { ConsoleParts } from './parts.ts';
import { scopesOf } from './roles.ts';

const CSRF_HEADER = 'parley-csrf';
const TENANT_HEADER = 'parley-tenant';
// The maximum duration of a stream, so that it ends soon after its session. The page opens it again.
const STREAM_MS = 60_000;

/** Admits signed-in operators to calls of the admin API. */
export function createOperatorSessions(
  parts: Pick<ConsoleParts, 'cookie' | 'sessions' | 'publicUrl'>,
): OperatorSessions {
  return {
    async admit(head, changes) {
      const { browser, session } = await sessionOf(parts, head);
      // A page of another origin cannot send this header, so it cannot even make the server read.
      const tenant = head.headers[TENANT_HEADER];
      const found = session.tenants.find((one) => one.tenant === tenant);
      if (found === undefined) throw forbidden(`You have no role in the tenant that ${TENANT_HEADER} names.`);
      const scopes = scopesOf(found.roles);
      if (changes) {
        checkCsrf(browser, head);
        if (!hasScope(scopes, ['operate'])) throw forbidden('This call needs the role operator.');
      }
      return {
        caller: operatorCaller(found.tenant, session.userId, scopes),
        expiresAtMs: Math.min(session.endsAtMs, Date.now() + STREAM_MS),
      };
    },
  };
}

/** The session of a request that the console's own page made. Throws `unauthenticated` and `forbidden`. */
export async function sessionOf(
  { cookie, sessions, publicUrl }: Pick<ConsoleParts, 'cookie' | 'sessions' | 'publicUrl'>,
  head: RequestHead,
) {
  const browser = cookie.read(head);
  if (browser.isNew) throw unauthenticated();
  if (!isOfOwnPage(head, publicUrl)) throw forbidden('The session of the console is for its own page only.');
  const session = await sessions.find(browser);
  if (session === undefined) throw unauthenticated();
  return { browser, session };
}

/** Throws `forbidden` unless the request contains its session's token. */
export function checkCsrf(browser: Browser, { headers }: RequestHead): void {
  const given = headers[CSRF_HEADER];
  if (!isOurForm(browser, typeof given === 'string' ? given : undefined))
    throw forbidden(`This call needs the token of its session in the header ${CSRF_HEADER}.`);
}

function forbidden(detail: string): ParleyError {
  return new ParleyError('forbidden', detail);
}
