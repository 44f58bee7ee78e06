import { setTimeout as sleep } from 'node:timers/promises';
import type { SlackApp } from './app.ts';
import { CALL_MS } from './delivery/deps.ts';
import { apiUrlOf, type SlackSettings } from './settings.ts';

interface SocketDeps {
  readonly app: SlackApp;
  readonly settings: SlackSettings & { readonly appToken: string };
  readonly onFault: (error: unknown) => void;
}

/** The data that `@slack/socket-mode` passes for each request. */
interface SocketEvent {
  readonly ack: (response?: Record<string, unknown>) => Promise<void>;
  readonly body: Record<string, unknown>;
  readonly retry_num?: number;
  readonly retry_reason?: string;
}

const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 30_000;
const CLOSE_MS = 2_000;

/**
 * Receives Slack's requests over a WebSocket of this pod, which is opened again whenever it fails or closes. The returned
 * function closes it, and waits at most a limited time.
 */
export function startSocket({ app, settings, onFault }: SocketDeps): () => Promise<void> {
  const closing = new AbortController();
  const { signal } = closing;
  let disconnect = async (): Promise<void> => undefined;

  async function keepOpen(): Promise<void> {
    const client = await createClient(settings);
    disconnect = () => client.disconnect();
    client.on('slack_event', ({ ack, body, retry_num, retry_reason }: SocketEvent) => {
      const retry = {
        ...(retry_num !== undefined && { num: retry_num }),
        ...(retry_reason !== undefined && { reason: retry_reason }),
      };
      // Slack repeats requests that are not acknowledged. The connection may have ended before the acknowledgement.
      app
        .process(body, retry)
        .then(({ body: reply }) => ack(reply as Record<string, unknown> | undefined))
        .catch(onFault);
    });
    let failures = 0;
    while (!signal.aborted) {
      try {
        await client.start();
        failures = 0;
        const closed = new Promise<void>((resolve) => client.once('disconnected', () => resolve()));
        if (signal.aborted) await client.disconnect();
        await closed;
      } catch (error) {
        failures += 1;
        // If a connection ends before Slack's greeting, it rejects without a reason.
        if (!signal.aborted) onFault(error ?? new Error('Slack ended the connection before it was open.'));
      }
      const pauseMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(failures, 10));
      if (!signal.aborted) await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
  keepOpen().catch(onFault);

  return async () => {
    closing.abort();
    await Promise.race([disconnect().catch(onFault), sleep(CLOSE_MS, undefined, { ref: false })]);
  };
}

async function createClient(settings: SocketDeps['settings']) {
  const { SocketModeClient, LogLevel } = await import('@slack/socket-mode');
  return new SocketModeClient({
    appToken: settings.appToken,
    logLevel: LogLevel.ERROR,
    // The package's own reconnection would leave the rejection of a refused start unhandled.
    autoReconnectEnabled: false,
    clientOptions: {
      slackApiUrl: apiUrlOf(settings),
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      timeout: CALL_MS,
    },
  });
}
