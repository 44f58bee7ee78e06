/**
 * The routes of the connect, accounts and inbox pages under `/auth`. Answer pages and links to other services have routes of
 * their own.
 */

import { ParleyError } from '@parley/core/domain/errors';
import { userOf } from '../http/reply.ts';
import { bearer, json, jsonBody, type Route, rawBody, route, type Surface } from '../http/route.ts';
import {
  confirmDisconnect,
  disconnectAccount,
  showAccounts,
  signOutOfAccounts,
} from './accounts/accounts.ts';
import { decline, start, takeSecret } from './connect/act.ts';
import { BindingReport, complete } from './connect/binding.ts';
import { callback } from './connect/callback.ts';
import { showAlias, showConnect } from './connect/show.ts';
import { waiting } from './connect/waiting.ts';
import { refusalOf, verifierOf, webhook } from './connect/webhook.ts';
import { inboxEventsRoute } from './inbox/events.ts';
import { approveGroup, denyGroup, showGroup } from './inbox/group.ts';
import { forget, showInbox, signInToInbox, signOutOfInbox } from './inbox/inbox.ts';
import { missingPage, type PageRoute, pageRoute, withRequestId } from './serving/page-route.ts';
import { type AuthPagesDeps, createParts, type Parts } from './serving/parts.ts';
import { programReply } from './serving/reply.ts';
import { signedIn, signInToAccounts, signInToConnect, signOut } from './sign-in/sign-in.ts';

export type { AuthPagesDeps } from './serving/parts.ts';

const COMPLETE_BYTES_MAX = 16 * 1024;
const WEBHOOK_BYTES_MAX = 256 * 1024;

const PAGES: readonly PageRoute<Parts>[] = [
  { method: 'GET', path: '/auth/connect', handle: showAlias, readsOnly: true },
  { method: 'GET', path: '/auth/connect/:id', handle: showConnect, readsOnly: true },
  { method: 'POST', path: '/auth/connect/:id/sign-in', handle: signInToConnect },
  { method: 'GET', path: '/auth/signed-in', handle: signedIn },
  { method: 'POST', path: '/auth/sign-out', handle: signOut },
  { method: 'POST', path: '/auth/connect/:id/start', handle: start },
  { method: 'POST', path: '/auth/connect/:id/secret', handle: takeSecret },
  { method: 'POST', path: '/auth/connect/:id/decline', handle: decline },
  { method: 'GET', path: '/auth/connect/:id/waiting', handle: waiting },
  { method: 'GET', path: '/auth/callback/:id', handle: callback },
  { method: 'GET', path: '/auth/accounts', handle: showAccounts, readsOnly: true },
  { method: 'POST', path: '/auth/accounts/sign-in', handle: signInToAccounts },
  { method: 'POST', path: '/auth/accounts/sign-out', handle: signOutOfAccounts },
  { method: 'GET', path: '/auth/inbox', handle: showInbox, readsOnly: true },
  { method: 'POST', path: '/auth/inbox/sign-in', handle: signInToInbox },
  { method: 'POST', path: '/auth/inbox/sign-out', handle: signOutOfInbox },
  { method: 'POST', path: '/auth/inbox/remembered/:id/forget', handle: forget },
  { method: 'GET', path: '/auth/inbox/groups/:id', handle: showGroup, readsOnly: true },
  { method: 'POST', path: '/auth/inbox/groups/:id/approve', handle: approveGroup },
  { method: 'POST', path: '/auth/inbox/groups/:id/deny', handle: denyGroup },
  { method: 'GET', path: '/auth/accounts/:id/disconnect', handle: confirmDisconnect },
  { method: 'POST', path: '/auth/accounts/:id/disconnect', handle: disconnectAccount },
];
const INBOX_EVENTS = { method: 'GET', path: '/auth/inbox/events' } as const;
const CLIENT_METADATA = { method: 'GET', path: '/auth/client-metadata/:id' } as const;
const WEBHOOKS = { method: 'POST', path: '/auth/webhooks/:id' } as const;
const COMPLETE = { method: 'POST', path: '/auth/complete' } as const;

/**
 * All routes of `/auth`: the hosted pages from the link in a chat to a usable credential, and the calls that report to them.
 */
export function authRoutes(deps: AuthPagesDeps): Surface {
  const parts = createParts(deps);
  return {
    routes: [
      ...PAGES.map((one) => pageRoute(parts, one)),
      inboxEventsRoute(parts, INBOX_EVENTS),
      clientMetadataRoute(parts),
      webhookRoute(parts),
      completeRoute(parts),
    ],
    below: { path: '/auth', missing: missingPage(parts) },
  };
}

/**
 * The document about Parley that authorization servers read if Parley's client id is this address (Client ID Metadata
 * Document).
 */
function clientMetadataRoute({ targets }: Parts): Route {
  return route({
    ...CLIENT_METADATA,
    proof: { by: 'none' },
    readsOnly: true,
    cors: 'never',
    async handle({ params: { id = '' } }) {
      const document = targets.connector(id)?.clientMetadata?.();
      if (document === undefined) throw new ParleyError('not_found', 'There is no such client.');
      return json(200, document, { 'cache-control': 'public, max-age=300' });
    },
  });
}

function webhookRoute(parts: Parts): Route {
  return route({
    ...WEBHOOKS,
    proof: { by: 'signature', verifierOf: ({ id = '' }) => verifierOf(parts, id) },
    body: rawBody(WEBHOOK_BYTES_MAX),
    handle: async ({ params, caller, head }) =>
      programReply(await webhook(withRequestId(parts, head), params.id ?? '', caller)),
    refuse(error, { caller }) {
      // Only an error before the proof means that the report was refused.
      const refusal = caller === undefined ? refusalOf(error) : undefined;
      return refusal && programReply(refusal);
    },
  });
}

function completeRoute(parts: Parts): Route {
  return route({
    ...COMPLETE,
    proof: bearer('user'),
    body: jsonBody(BindingReport, { bytesMax: COMPLETE_BYTES_MAX }),
    async handle({ caller, body, head, admitted }) {
      await admitted;
      return programReply(await complete(withRequestId(parts, head), userOf(caller), body));
    },
  });
}
