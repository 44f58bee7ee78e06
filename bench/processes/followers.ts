import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBackoff, RETRY_DEFAULTS } from '@parley/core';
import { userToken } from '../../test/harness/tokens.ts';
import { microseconds } from '../measurement.ts';
import { TENANT } from '../pod/engine.ts';
import { HTTP_ENV } from '../pod/http-client.ts';
import { inSlots } from '../slots.ts';

const SLOTS = 32;

/** What people's clients do whose pod dies, and how far they are. */
export interface Followers {
  /** How many have been told what waits for them, and have not lost their stream since. */
  readonly connected: number;
  /** How often one was refused, by status; 0 for a connection that was lost before a reply. */
  readonly refusals: Readonly<Record<string, number>>;
  /** When the latest of them was connected, in microseconds. */
  readonly lastAt: number;
  /** Where those that lose their stream find the service from now on. */
  moveTo(urls: readonly string[]): void;
}

/** Lets `count` people follow their inboxes at `url`, each with the pauses of Parley's own clients. Resolves when all do. */
export async function startFollowers(url: string, count: number): Promise<Followers> {
  let urls: readonly string[] = [url];
  const refusals: Record<string, number> = {};
  const state = { connected: 0, lastAt: 0 };
  const agent = new Agent({ keepAlive: false });

  async function connectOnce(token: string, onSeen: () => void, onRetry: (ms: number) => void) {
    const target = urls[Math.floor(Math.random() * urls.length)] ?? url;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${target}/v1/inbox/events`, { agent, headers: { authorization: `Bearer ${token}` } }, resolve)
        .once('error', reject)
        .on('error', () => undefined);
    });
    if (response.statusCode !== 200) {
      response.resume();
      const status = response.statusCode ?? 0;
      return { status, retryAfterSeconds: Number(response.headers['retry-after'] ?? 0) };
    }
    let seen = false;
    try {
      for await (const piece of response.setEncoding('utf8')) {
        const retry = /retry: (\d+)/.exec(String(piece));
        if (retry !== null) onRetry(Number(retry[1]));
        if (seen || !String(piece).includes('inbox-snapshot')) continue;
        seen = true;
        state.connected += 1;
        state.lastAt = microseconds();
        onSeen();
      }
    } catch {
      // The pod has died.
    }
    if (seen) state.connected -= 1;
    return { status: seen ? undefined : 0, retryAfterSeconds: 0 };
  }

  async function follow(index: number, onFirst: () => void): Promise<void> {
    const token = await userToken({
      secret: HTTP_ENV.PARLEY_JWT_SECRET,
      userId: `follower-${process.pid}-${index}`,
      tenant: TENANT,
    });
    const backoff = createBackoff(RETRY_DEFAULTS);
    const onSeen = () => {
      backoff.reset();
      onFirst();
    };
    for (;;) {
      const lost = { status: 0, retryAfterSeconds: 0 };
      const { status, retryAfterSeconds } = await connectOnce(token, onSeen, backoff.setFirstDelayMs).catch(
        () => lost,
      );
      if (status !== undefined) refusals[status] = (refusals[status] ?? 0) + 1;
      await sleep(backoff.nextDelayMs(retryAfterSeconds));
    }
  }

  await inSlots(count, SLOTS, (index) => new Promise<void>((resolve) => void follow(index, resolve)));
  return {
    refusals,
    get connected() {
      return state.connected;
    },
    get lastAt() {
      return state.lastAt;
    },
    moveTo(next) {
      urls = next;
    },
  };
}
