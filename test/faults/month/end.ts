import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ManagedProcess, Pod } from '../../harness/processes/processes.ts';
import { liveBytes } from '../../harness/processes/resources.ts';
import { type Client, untilAsked } from './client.ts';
import type { LeapingClock } from './clock.ts';
import { type Holdings, readHoldings } from './holdings.ts';
import type { Stage } from './stage.ts';
import { SECOND, WEEK } from './times.ts';

/** The names of what is judged once all stories have ended. */
export const AT_THE_END = {
  empty: 'after the month Redis holds nothing of it',
  same: 'Redis holds what a fresh installation with the same open records holds',
  lists: "BullMQ's lists and events do not grow",
  memory: 'the memory of pods and worker is flat',
  canary: 'the timer canary is fresh on every pod',
  logs: 'no process logs an error',
} as const;

/** What the deployment holds at one time. */
export interface Look {
  readonly holdings: Holdings;
  /** Bytes of each process after a garbage collection. */
  readonly memory: readonly number[];
}

type Run = (row: string, work: () => Promise<string>) => Promise<void>;

/** Keys of the deployment itself, no matter who uses it. */
const OWN = /^(pod|pods|workers|canary|audit-\w+|limit|claim:sweep|expiry|runs)\b/;
/** BullMQ trims its events by whole nodes of the stream, of a hundred entries each, and keeps at most a hundred failed jobs. */
const ELEMENTS_MAX = 200;
/** It runs every five seconds. */
const CANARY_SECONDS_MAX = 60;
const TICKS_PER_SECOND = 100;
const GROWTH_BYTES_MAX = 10_000_000;

export async function lookAt({ redis, pods, worker }: Stage, clock: LeapingClock): Promise<Look> {
  await clock.settled();
  return {
    holdings: await readHoldings(redis.url),
    memory: await Promise.all([...pods, worker].map((each) => liveBytes(each))),
  };
}

/** A question on a stream, and a turn that waits for its person. */
export async function openRecords(client: Client, userId: string): Promise<void> {
  await client.ask(userId, { streamRequestId: `stream-of-${userId}`, timeoutSeconds: WEEK / SECOND });
  await untilAsked(await client.say(userId, 'waits', 'ask'));
}

export async function judgeEnd(
  run: Run,
  { fresh, warm, end, last }: Readonly<Record<'fresh' | 'warm' | 'end' | 'last', Look>>,
): Promise<void> {
  await run(AT_THE_END.empty, async () => {
    assert.deepEqual(ofUsers(end), {});
    return `${Object.keys(end.holdings).length} kinds of keys, all of the deployment itself`;
  });
  await run(AT_THE_END.same, async () => {
    assert.deepEqual(ofUsers(last), ofUsers(fresh));
    return `${Object.keys(ofUsers(last)).length} kinds of keys with as many elements`;
  });
  await run(AT_THE_END.lists, async () => {
    const own = Object.entries(end.holdings).filter(([kind]) => OWN.test(kind));
    assert.deepEqual(
      own.filter(([, { keys, elements }]) => Math.max(keys, elements) > ELEMENTS_MAX),
      [],
    );
    assert.deepEqual(
      own.filter(([kind]) => /:(active|completed|wait)$/.test(kind)),
      [],
    );
    return `at most ${Math.max(...own.map(([, { elements }]) => elements))} elements in a key of the deployment`;
  });
  await run(AT_THE_END.memory, async () => {
    const grown = end.memory.map((bytes, index) => bytes - (warm.memory[index] ?? 0));
    assert.ok(Math.max(...grown) < GROWTH_BYTES_MAX, `grew by ${grown.join(', ')} bytes`);
    return `${grown.map((bytes) => `${Math.round(bytes / 1_000)} kB`).join(', ')} more than on the second day`;
  });
}

export function judgeCanary(run: Run, pods: readonly Pod[]): Promise<void> {
  return run(AT_THE_END.canary, async () => {
    const bodies = await Promise.all(pods.map(async ({ url }) => (await fetch(`${url}/readyz`)).json()));
    const ages = bodies.map((body) =>
      Number((body as { timerCanaryAgeSeconds?: number }).timerCanaryAgeSeconds),
    );
    assert.ok(
      ages.every((age) => age <= CANARY_SECONDS_MAX),
      `${ages.join(', ')} s old`,
    );
    return `${ages.join(', ')} s old`;
  });
}

/** The processor time of running processes, in the unit that Linux counts it in. */
export function processorSeconds(processes: readonly { readonly pid: number }[]): number {
  const ticks = processes.map(({ pid }) => {
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const [user = 0, system = 0] = rest.split(' ').slice(11, 13).map(Number);
    return user + system;
  });
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND;
}

export function judgeLogs(run: Run, processes: readonly ManagedProcess[]): Promise<void> {
  return run(AT_THE_END.logs, async () => {
    const logged = processes
      .flatMap(({ lines }) => lines)
      .filter((line) => /"level":"(error|fatal)"/.test(line));
    assert.deepEqual(logged, []);
    return 'none';
  });
}

function ofUsers({ holdings }: Look): Holdings {
  return Object.fromEntries(Object.entries(holdings).filter(([kind]) => !OWN.test(kind)));
}
