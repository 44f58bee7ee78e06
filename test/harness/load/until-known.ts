import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply } from './driver.ts';

// Longer than a failover takes on a busy machine.
const GIVE_UP_MS = 120_000;
const PAUSE_MS_MIN = 250;
const PAUSE_MS_MAX = 750;

/** Repeats a call until a reply states its outcome or the time is over; returns the last reply. */
export async function untilKnown(call: () => Promise<Reply>): Promise<Reply> {
  const first = performance.now();
  for (;;) {
    const reply = await call();
    const isKnown = reply.status !== 0 && reply.status < 500;
    if (isKnown || performance.now() - first >= GIVE_UP_MS) return reply;
    await sleep(PAUSE_MS_MIN + Math.random() * (PAUSE_MS_MAX - PAUSE_MS_MIN));
  }
}
