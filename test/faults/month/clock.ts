import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { infoFields } from '../../harness/redis/redis-command.ts';

/** The processes that share the clock, without the one that moves it. */
export interface ClockProcesses {
  readonly redis: { readonly pid: number; readonly url: string };
  readonly others: () => readonly { readonly pid: number }[];
}

/** A clock that all processes share and that goes forward in leaps while none of them has anything to do. */
export interface LeapingClock {
  /** Runs a story. Between its waits it sees a clock of the usual pace. */
  tell<T>(story: () => Promise<T>): Promise<T>;
  /** For a story: resolves once it is this time (ms). */
  until(time: number): Promise<void>;
  /** Lets the time pass until all stories have ended. Asks before each leap how long it may be, in ms. */
  run(longest: () => number): Promise<void>;
  /** Resolves once no process runs, no job is being worked on, and none has sent a command to Redis. */
  settled(): Promise<void>;
  /** How often the clock has leapt. */
  readonly leaps: () => number;
  stop(): void;
}

const LOOK_MS = 3;
const QUIET_LOOKS = 2;
// A job whose worker has lost its connection stays in the list until another worker finds it.
const LOOKS_MAX = 200;
const JOB_LISTS = ['expiry', 'runs'].map((queue) => `parley:{timers-0}:${queue}:active`);

/**
 * Moves the clock in the file that FAKETIME_TIMESTAMP_FILE names. A leap that is longer than a lease or a time limit ends
 * it, if one is running. Redis sees the new time first, so that a reply that is due is there before a client looks at its own
 * limits.
 */
export function createLeapingClock(file: string, { redis, others }: ClockProcesses): LeapingClock {
  const connection = new Redis(redis.url);
  const waiting: { readonly time: number; readonly wake: () => void }[] = [];
  let telling = 0;
  let leaps = 0;
  let offsetMs = 0;

  const pids = () => others().map(({ pid }) => pid);

  async function leap(ms: number): Promise<void> {
    offsetMs += ms;
    writeFileSync(`${file}.next`, `+${offsetMs / 1_000}\n`);
    renameSync(`${file}.next`, file);
    // Redis ends the blocked reads that are due; two turns of its event loop.
    await connection.ping();
    await connection.ping();
    // Wakes the others: they sleep until the times that were due before the leap.
    for (const pid of pids()) {
      process.kill(pid, 'SIGSTOP');
      process.kill(pid, 'SIGCONT');
    }
    leaps += 1;
  }

  async function settled(): Promise<void> {
    let quiet = 0;
    let before = -1;
    for (let look = 0; quiet < QUIET_LOOKS && look < LOOKS_MAX; look += 1) {
      const [info, ...active] = await Promise.all([
        connection.info('stats'),
        ...JOB_LISTS.map((list) => connection.llen(list)),
      ]);
      const commands = Number(infoFields(info).total_commands_processed);
      const isQuiet =
        commands - before === 1 + JOB_LISTS.length &&
        active.every((length) => length === 0) &&
        pids().every((pid) => stateOf(pid) === 'S');
      quiet = isQuiet ? quiet + 1 : 0;
      before = commands;
      await sleep(LOOK_MS);
    }
  }

  return {
    settled,
    leaps: () => leaps,
    stop: () => connection.disconnect(),
    async tell(story) {
      telling += 1;
      try {
        return await story();
      } finally {
        telling -= 1;
      }
    },
    async until(time) {
      if (time <= Date.now()) return;
      telling -= 1;
      await new Promise<void>((wake) => waiting.push({ time, wake }));
    },
    async run(longest) {
      while (telling > 0 || waiting.length > 0) {
        if (telling > 0) {
          await sleep(LOOK_MS);
          continue;
        }
        await settled();
        const next = Math.min(...waiting.map(({ time }) => time));
        const left = next - Date.now();
        if (left > 0) {
          await leap(Math.min(left, longest()));
          continue;
        }
        const now = Date.now();
        for (const each of waiting.filter(({ time }) => time <= now)) {
          waiting.splice(waiting.indexOf(each), 1);
          telling += 1;
          each.wake();
        }
      }
    },
  };
}

/** The state of the main thread of a process, as in `ps`. */
function stateOf(pid: number): string | undefined {
  return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
}
