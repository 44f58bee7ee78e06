import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { prove } from '../../harness/load/size.ts';
import { testNotRun } from '../../harness/not-run.ts';
import { PACE } from '../../harness/pace.ts';
import { leapingTime, removeShared } from '../../harness/processes/faketime.ts';
import { type ManagedProcess, startProcess } from '../../harness/processes/processes.ts';
import { isFullSize } from '../../harness/proof-size.ts';
import { ensureRedisServer } from '../../harness/redis/ensure-redis-server.ts';
import { AT_THE_END } from './end.ts';
import { type Passage, writeMonth } from './report.ts';
import { type Result, rowsOf } from './rows.ts';

// A month of a whole deployment, whose clock goes forward in leaps: pods, worker, Redis and stand-ins see the same time, and
// it passes at its usual pace while one of them has something to do. A soak leaps by minutes, so that every lease is renewed
// and every job has its turns; the daily run leaps from one event of a story to the next.

const results = new Map<string, Result>();
const folder = mkdtempSync(join(tmpdir(), 'parley-clock-'));
let program: ManagedProcess | undefined;

afterAll(async () => {
  await program?.stop();
  await removeShared(program?.pid);
  rmSync(folder, { recursive: true, force: true });
});

it('a month passes', async (context) => {
  const redisServer = await ensureRedisServer();
  if (redisServer === undefined) return testNotRun(context, 'there is no redis-server');
  const file = join(folder, 'offset');
  writeFileSync(file, '+0');
  const time = await leapingTime(file, redisServer);
  if ('notRun' in time) return testNotRun(context, time.notRun);
  program = await startProcess({
    name: 'month',
    entry: 'test/faults/month/program.ts',
    wrap: time.wrap,
    env: { ...time.env, MONTH_SIZE: isFullSize ? 'full' : 'daily', PARLEY_TEST_PACE: String(PACE) },
    readyWhen: (line) => 'processes' in line,
  });
  const begunAt = performance.now();
  const { code } = await program.exited;
  const lines = program.lines.filter((line) => line.startsWith('{'));
  for (const line of lines) {
    const result = JSON.parse(line) as Result;
    if (result.row !== undefined) results.set(result.row, result);
  }
  expect(code, [...program.lines, ...program.stderr].slice(-20).join('\n')).toBe(0);
  const seen = [...results.values()].map(({ row, seen, fault }) => `${row}: ${fault ?? seen}`);
  prove('A month', [lines.at(-1), ...seen].join('\n'));
  const passage = JSON.parse(lines.at(-1) ?? '{}') as Passage;
  if (isFullSize) writeMonth(passage, results, performance.now() - begunAt);
});

for (const name of [...rowsOf(isFullSize).map((row) => row.name), ...Object.values(AT_THE_END)])
  it(name, (context) => {
    if (program === undefined) return testNotRun(context, 'no month passed');
    const { fault, seen } = results.get(name) ?? {};
    expect(fault).toBeUndefined();
    expect(seen).toBeDefined();
  });
