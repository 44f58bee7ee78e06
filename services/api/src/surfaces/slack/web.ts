/** The calls of Slack's Web API, loaded only when they are needed. When to call is decided by deliveries and listeners. */

import type { OAuthCredential } from '@parley/shared/domain/credential';
import type { WebClient } from '@slack/web-api';
import { CALL_MS } from './delivery/deps.ts';
import { DeliveryOverError, faultOf } from './delivery/faults.ts';
import type { Granted } from './http/install.ts';
import { apiUrlOf, type SlackSettings } from './settings.ts';
import { InvalidGrantError } from './store/installations.ts';
import { isSlackId } from './store/workspace.ts';

/** The calls of Slack's Web API through `@slack/web-api`, which is loaded at the first call. */
export interface SlackWeb {
  /** A client with this token. It never waits to retry, and makes no call once `isOver` returns true. */
  clientOf(token?: string, isOver?: () => boolean): Promise<WebClient>;
  exchange(code: string, redirectUri: string): Promise<Granted>;
  refresh(tokens: OAuthCredential): Promise<OAuthCredential>;
  /** The Slack account that is signed in to a browser, from the code that Slack gave the browser. */
  identify(code: string, redirectUri: string): Promise<{ readonly teamId: string; readonly userId: string }>;
}

export function createSlackWeb(settings: SlackSettings): SlackWeb {
  const secrets = { client_id: settings.clientId, client_secret: settings.clientSecret };

  async function clientOf(token?: string, isOver = () => false): Promise<WebClient> {
    const { WebClient, LogLevel } = await import('@slack/web-api');
    class TimedClient extends WebClient {
      override async apiCall(...call: Parameters<WebClient['apiCall']>) {
        if (isOver()) throw new DeliveryOverError('The time of this delivery is over.');
        return super.apiCall(...call);
      }
    }
    return new TimedClient(token, {
      slackApiUrl: apiUrlOf(settings),
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      timeout: CALL_MS,
      logLevel: LogLevel.ERROR,
    });
  }

  return {
    clientOf,
    async exchange(code, redirectUri) {
      const client = await clientOf();
      const reply = await client.oauth.v2.access({ ...secrets, code, redirect_uri: redirectUri });
      const { team, enterprise, access_token, bot_user_id, is_enterprise_install: isEnterprise } = reply;
      if (access_token === undefined || bot_user_id === undefined)
        throw new Error('Slack granted no token for a bot.');
      return {
        details: {
          ...(enterprise?.id !== undefined && enterprise !== null && { enterpriseId: enterprise.id }),
          ...(isEnterprise !== true && team?.id !== undefined && { teamId: team.id }),
          name: (isEnterprise === true ? enterprise?.name : team?.name) ?? 'Slack',
          botUserId: bot_user_id,
        },
        tokens: tokensOf(reply),
      };
    },
    async refresh({ refreshToken }) {
      const client = await clientOf();
      try {
        const reply = await client.oauth.v2.access({
          ...secrets,
          grant_type: 'refresh_token',
          refresh_token: refreshToken ?? '',
        });
        return tokensOf(reply);
      } catch (error) {
        const { type } = faultOf(error);
        if (type === 'revoked' || type === 'refused') throw new InvalidGrantError();
        throw error;
      }
    },
    async identify(code, redirectUri) {
      const client = await clientOf();
      const { access_token } = await client.openid.connect.token({
        ...secrets,
        code,
        redirect_uri: redirectUri,
      });
      const info = await (await clientOf(access_token)).openid.connect.userInfo();
      const teamId = info['https://slack.com/team_id'] ?? '';
      const userId = info['https://slack.com/user_id'] ?? '';
      if (!isSlackId(teamId) || !isSlackId(userId)) throw new Error('Slack named no account.');
      return { teamId, userId };
    },
  };
}

interface TokenReply {
  readonly access_token?: string;
  readonly refresh_token?: string;
  readonly expires_in?: number;
  readonly scope?: string;
}

function tokensOf({ access_token = '', refresh_token, expires_in, scope }: TokenReply): OAuthCredential {
  return {
    kind: 'oauth2',
    accessToken: access_token,
    tokenType: 'Bearer',
    ...(refresh_token !== undefined && { refreshToken: refresh_token }),
    ...(expires_in !== undefined && { expiresAt: Date.now() + expires_in * 1_000 }),
    ...(scope !== undefined && { scope }),
  };
}
