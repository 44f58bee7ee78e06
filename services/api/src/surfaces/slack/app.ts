import { once } from '@parley/shared/async/once';
import type { App, ReceiverEvent } from '@slack/bolt';
import { CALL_MS } from './delivery/deps.ts';
import { listenToDecisions } from './listeners/approvals.ts';
import type { ListenerDeps } from './listeners/deps.ts';
import { listenToInstalls } from './listeners/installs.ts';
import { listenToMessages } from './listeners/messages.ts';
import { listenToQuestions } from './listeners/questions.ts';
import { apiUrlOf } from './settings.ts';

/** The reply to a request of Slack: the body of its acknowledgement, if it has one. */
export interface Acknowledged {
  readonly body: unknown;
}

/** The Slack app. It handles Slack's requests, over HTTP or Socket Mode. */
export interface SlackApp {
  /**
   * Handles one request. Resolves once it may be acknowledged. An event is acknowledged only after its effect is stored, so
   * that Slack sends it to another pod if this one dies before that. Rejects if it must not be acknowledged.
   */
  process(
    body: Record<string, unknown>,
    retry?: { readonly num?: number; readonly reason?: string },
  ): Promise<Acknowledged>;
}

/** Makes the app with Bolt, which is loaded at the first request. */
export function createSlackApp(deps: ListenerDeps): SlackApp {
  const loadApp = once(() => createApp(deps));
  return {
    async process(body, retry = {}) {
      const bolt = await loadApp();
      let answered: Acknowledged | undefined;
      const handled = new Promise<Acknowledged>((resolve, reject) => {
        const event: ReceiverEvent = {
          body,
          ...(retry.num !== undefined && { retryNum: retry.num }),
          ...(retry.reason !== undefined && { retryReason: retry.reason }),
          async ack(response: unknown) {
            answered = { body: response };
            // Bolt acknowledges events before its listeners have run, so events are acknowledged below.
            if (body.type !== 'event_callback') resolve(answered);
          },
        };
        bolt.processEvent(event).then(() => {
          if (answered !== undefined) resolve(answered);
          else reject(new Error('Nothing has acknowledged a request of Slack.'));
        }, reject);
      });
      return handled;
    },
  };
}

async function createApp(deps: ListenerDeps): Promise<App> {
  const { App, LogLevel } = await import('@slack/bolt');
  const app = new App({
    receiver: { init: () => undefined, start: async () => undefined, stop: async () => undefined },
    // At other levels, Bolt writes request bodies to its log.
    logLevel: LogLevel.ERROR,
    convoStore: false,
    clientOptions: {
      slackApiUrl: apiUrlOf(deps.settings),
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      timeout: CALL_MS,
    },
    async authorize({ teamId, enterpriseId }) {
      const found = await deps.installations.find({ enterpriseId, teamId });
      if (found === undefined) throw new Error('The app is not installed in this workspace.');
      const { botToken, botUserId, botId } = found;
      return {
        botToken,
        botUserId,
        ...(botId !== undefined && { botId }),
        ...(teamId !== undefined && { teamId }),
        ...(enterpriseId !== undefined && { enterpriseId }),
      };
    },
  });
  app.error(async (error) => {
    throw error;
  });
  listenToMessages(app, deps);
  listenToQuestions(app, deps);
  listenToDecisions(app, deps);
  listenToInstalls(app, deps);
  return app;
}
