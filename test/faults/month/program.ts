import { createClient } from './client.ts';
import { createLeapingClock } from './clock.ts';
import { judgeCanary, judgeEnd, judgeLogs, lookAt, openRecords, processorSeconds } from './end.ts';
import type { Passage } from './report.ts';
import { type Result, rowsOf } from './rows.ts';
import { openStage } from './stage.ts';
import { DAY, HOUR, MINUTE } from './times.ts';

// Runs under faketime: the clock of this process is that of the deployment. Prints a line of JSON for each row, and at the
// end one of how it went.

const { LD_PRELOAD = '', FAKETIME_TIMESTAMP_FILE = '', FAKETIME_SHARED = '', MONTH_SIZE = '' } = process.env;
const isSoak = MONTH_SIZE === 'full';
// Until everything that the stories left has ended: conversations are kept longest.
const AFTERWARDS = 40 * DAY;
/** What the processes need once is in memory by then. */
const WARM = 2 * DAY;
/** In a soak, leases are renewed between two leaps of the first three days, and every job has its turns each two hours after them. */
const SOAK_LEAPS = { first: 7 * MINUTE, firstFor: 3 * DAY, later: 2 * HOUR };

const print = (line: Result | Passage | { readonly processes: number }) =>
  void process.stdout.write(`${JSON.stringify(line)}\n`);

/** Does what a row demands, and prints whether it held. */
async function run(row: string, work: () => Promise<string>): Promise<void> {
  try {
    print({ row, seen: await work() });
  } catch (error) {
    print({ row, fault: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

async function main(): Promise<void> {
  const startedAt = Date.now();
  const clockEnv = { FAKETIME_TIMESTAMP_FILE, FAKETIME_SHARED, FAKETIME_NO_CACHE: '1' };
  const stage = await openStage(clockEnv, LD_PRELOAD, isSoak ? 2 : 1);
  print({ processes: stage.pods.length + 1 });
  const client = createClient(stage);
  const others = () => [...stage.pods, stage.worker];
  const clock = createLeapingClock(FAKETIME_TIMESTAMP_FILE, { redis: stage.redis, others });
  const { first, firstFor, later } = SOAK_LEAPS;
  const longest = () => {
    if (!isSoak) return AFTERWARDS;
    return Date.now() - startedAt < firstFor ? first : later;
  };
  try {
    await openRecords(client, 'fresh');
    const fresh = await lookAt(stage, clock);
    const stories = rowsOf(isSoak).map(({ name, story }) =>
      clock.tell(() => run(name, () => story({ stage, clock, client }))),
    );
    let warm = fresh;
    stories.push(
      clock.tell(async () => {
        await clock.until(startedAt + WARM);
        warm = await lookAt(stage, clock);
      }),
    );
    await clock.run(longest);
    await Promise.all(stories);
    const storyDays = (Date.now() - startedAt) / DAY;
    void clock.tell(() => clock.until(Date.now() + AFTERWARDS));
    // Nobody has a stream or a turn open any more: days may pass at once.
    await clock.run(() => AFTERWARDS);
    const end = await lookAt(stage, clock);
    await openRecords(client, 'last');
    await judgeEnd(run, { fresh, warm, end, last: await lookAt(stage, clock) });
    await judgeCanary(run, stage.pods);
    await judgeLogs(run, others());
    const processors = processorSeconds([...others(), stage.redis, process]);
    print({
      leaps: clock.leaps(),
      storyDays,
      days: (Date.now() - startedAt) / DAY,
      processors,
    } satisfies Passage);
  } finally {
    clock.stop();
    await stage.stop();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
