import { randomBytes } from 'node:crypto';
import type { Owner } from '@parley/core/domain/ids';
import type { PageStore } from '@parley/shared/ports/page-store';
import type { SlackSettings } from './settings.ts';
import type { Installations } from './store/installations.ts';
import type { Links } from './store/links.ts';
import { parseSlackUser, type SlackUser, slackUserText } from './store/workspace.ts';
import type { SlackWeb } from './web.ts';

const LINK_MS = 15 * 60_000;
const TOKEN_BYTES = 24;

interface OutsideDeps {
  readonly settings: SlackSettings;
  readonly store: Pick<PageStore, 'put' | 'read' | 'drop'>;
  readonly links: Links;
  readonly installations: Installations;
  readonly web: Pick<SlackWeb, 'identify' | 'clientOf'>;
  readonly onFault: (error: unknown) => void;
}

/** Slack accounts that are linked to people: links that one browser can use, and the proof of whose account it is. */
export function createSlackAccounts({ settings, store, links, installations, web, onFault }: OutsideDeps) {
  const nameOf = (token: string) => ({ family: 'outside-link', id: token }) as const;

  async function read(token: string): Promise<SlackUser | undefined> {
    const entry = await store.read(nameOf(token));
    // A process of an earlier version marks a used link as taken instead of removing it.
    return entry === undefined || entry.taken ? undefined : parseSlackUser(entry.value);
  }

  return {
    /** Creates the address of a new link for a Slack user. */
    async addressFor(user: SlackUser): Promise<string> {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      await store.put(nameOf(token), slackUserText(user), LINK_MS);
      return `${settings.publicUrl}/auth/link/${token}`;
    },
    async find(token: string) {
      const user = await read(token);
      if (user === undefined) return undefined;
      const installation = await installations.find(user);
      if (installation === undefined) return undefined;
      return { service: 'Slack', account: `${user.userId}, ${installation.name}` };
    },
    async addressOf(token: string, state: string, redirectUri: string): Promise<string> {
      const user = await read(token);
      const url = new URL('/openid/connect/authorize', settings.slackUrl);
      url.search = new URLSearchParams({
        response_type: 'code',
        scope: 'openid profile',
        client_id: settings.clientId,
        redirect_uri: redirectUri,
        state,
        ...(user !== undefined && { team: user.teamId }),
      }).toString();
      return url.href;
    },
    async prove(token: string, code: string, redirectUri: string) {
      try {
        const [user, signedIn] = await Promise.all([read(token), web.identify(code, redirectUri)]);
        const isSame = user?.teamId === signedIn.teamId && user.userId === signedIn.userId;
        return isSame ? ('same' as const) : ('other' as const);
      } catch (error) {
        onFault(error);
        return 'failed' as const;
      }
    },
    async link(token: string, owner: Owner): Promise<void> {
      const user = await read(token);
      if (user === undefined) return;
      await links.add(user, owner);
      await store.drop(nameOf(token));
      await confirm(user).catch(onFault);
    },
  };

  /** Confirms the link to the Slack user. */
  async function confirm(user: SlackUser): Promise<void> {
    const installation = await installations.find(user);
    if (installation === undefined) return;
    const client = await web.clientOf(installation.botToken);
    await client.chat.postMessage({
      channel: user.userId,
      text: 'Your account is connected. You can talk to me now.',
    });
  }
}
