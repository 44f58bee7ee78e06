/** The routes that install the app in a workspace. Storing installations is in `store/installations.ts`. */

import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { OAuthCredential } from '@parley/shared/domain/credential';
import { type Reply, type RequestHead, type Route, route } from '../../../http/route.ts';
import type { SlackSettings } from '../settings.ts';
import type { InstallationDetails, Installations } from '../store/installations.ts';

/** Slack's reply to the code of an installation. */
export interface Granted {
  readonly details: InstallationDetails;
  readonly tokens: OAuthCredential;
}

export interface InstallDeps {
  readonly settings: SlackSettings;
  readonly installations: Pick<Installations, 'save'>;
  /** Exchanges the code (`oauth.v2.access`). */
  readonly exchange: (code: string, redirectUri: string) => Promise<Granted>;
  readonly onInstalled: (details: InstallationDetails) => void;
  readonly onFault: (error: unknown) => void;
}

/** The app's permissions in a workspace. The manifest in docs/slack.md contains the same list. */
const BOT_SCOPES = [
  'app_mentions:read',
  'assistant:write',
  'channels:history',
  'channels:read',
  'chat:write',
  'groups:history',
  'im:history',
  'im:read',
  'im:write',
  'mpim:history',
  'usergroups:read',
  'users:read',
] as const;

const COOKIE = 'parley-slack-install';
const STATE_SECONDS = 600;

/** `GET /slack/install` redirects to Slack. Slack redirects the browser back to `GET /slack/oauth`. */
export function installRoutes(deps: InstallDeps): Route[] {
  const proof = { by: 'session', read: readState } as const;
  return [
    route<undefined, undefined, string | undefined>({
      method: 'GET',
      path: '/slack/install',
      proof,
      handle: async () => begin(deps),
    }),
    route<undefined, undefined, string | undefined>({
      method: 'GET',
      path: '/slack/oauth',
      proof,
      handle: ({ caller, head }) => finish(deps, caller, new URL(head.url, 'http://parley').searchParams),
    }),
  ];
}

function begin({ settings }: InstallDeps): Reply {
  const state = randomBytes(24).toString('base64url');
  const url = new URL('/oauth/v2/authorize', settings.slackUrl);
  url.search = new URLSearchParams({
    client_id: settings.clientId,
    scope: BOT_SCOPES.join(','),
    redirect_uri: redirectUriOf(settings),
    state,
  }).toString();
  return {
    type: 'empty',
    status: 303,
    headers: { location: url.href, 'set-cookie': cookie(settings, state) },
  };
}

async function finish(deps: InstallDeps, held: string | undefined, query: URLSearchParams): Promise<Reply> {
  const { settings } = deps;
  const state = query.get('state') ?? '';
  const code = query.get('code');
  if (held === undefined || !isSame(held, state))
    return text(settings, 400, 'This installation was begun elsewhere. Begin again at /slack/install.');
  if (code === null) return text(settings, 200, 'Nothing was installed.');
  let granted: Granted;
  try {
    granted = await deps.exchange(code, redirectUriOf(settings));
  } catch (error) {
    deps.onFault(error);
    return text(settings, 502, 'Slack did not confirm the installation. Begin again at /slack/install.');
  }
  const { teamId, enterpriseId } = granted.details;
  const isAllowed =
    settings.teams.length === 0 || settings.teams.some((id) => id === teamId || id === enterpriseId);
  if (!isAllowed) return text(settings, 403, 'This workspace may not install the app.');
  await deps.installations.save(granted.details, granted.tokens);
  deps.onInstalled(granted.details);
  return text(settings, 200, 'The app is installed. You can close this window and write to it in Slack.');
}

function redirectUriOf({ publicUrl }: SlackSettings): string {
  return `${publicUrl}/slack/oauth`;
}

function readState({ headers }: RequestHead): string | undefined {
  return new RegExp(`(?:^|; )${COOKIE}=([A-Za-z0-9_-]{1,64})(?:;|$)`).exec(headers.cookie ?? '')?.[1];
}

function cookie({ publicUrl }: SlackSettings, value: string, seconds = STATE_SECONDS): string {
  const secure = publicUrl.startsWith('https://') ? '; Secure' : '';
  return `${COOKIE}=${value}; Path=/slack; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function text(settings: SlackSettings, status: number, body: string): Reply {
  return {
    type: 'text',
    status,
    body: `${body}\n`,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'set-cookie': cookie(settings, 'over', 0),
    },
  };
}
