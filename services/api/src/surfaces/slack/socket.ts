import type { SlackApp } from './app.ts';
import { apiUrlOf, type SlackSettings } from './settings.ts';

interface SocketDeps {
  readonly app: SlackApp;
  readonly settings: SlackSettings & { readonly appToken: string };
  readonly onFault: (error: unknown) => void;
}

/** What `@slack/socket-mode` hands over for each request. */
interface SocketEvent {
  readonly ack: (response?: Record<string, unknown>) => Promise<void>;
  readonly body: Record<string, unknown>;
  readonly retry_num?: number;
  readonly retry_reason?: string;
}

/** Takes what Slack reports over a WebSocket of this pod. Returns a function that closes it. */
export function startSocket({ app, settings, onFault }: SocketDeps): () => Promise<void> {
  const opened = open();
  async function open() {
    const { SocketModeClient, LogLevel } = await import('@slack/socket-mode');
    const client = new SocketModeClient({
      appToken: settings.appToken,
      logLevel: LogLevel.ERROR,
      clientOptions: { slackApiUrl: apiUrlOf(settings) },
    });
    client.on('slack_event', ({ ack, body, retry_num, retry_reason }: SocketEvent) => {
      const retry = {
        ...(retry_num !== undefined && { num: retry_num }),
        ...(retry_reason !== undefined && { reason: retry_reason }),
      };
      // What is not acknowledged is sent again.
      app
        .process(body, retry)
        .then(({ body: reply }) => ack(reply as Record<string, unknown> | undefined), onFault);
    });
    await client.start();
    return client;
  }
  opened.catch(onFault);
  return async () => {
    const client = await opened.catch(() => undefined);
    await client?.disconnect();
  };
}
