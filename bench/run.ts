import { cpus } from 'node:os';
import { startRedis } from '../test/harness/redis-server.ts';
import { cost } from './cost.ts';
import { detached } from './detached.ts';
import { http } from './http.ts';
import { memory } from './memory.ts';
import { race } from './race.ts';
import { runs } from './runs.ts';
import { type Finding, formatFindings } from './stats.ts';
import { timers } from './timers.ts';

type Section = (redisUrl: string, progress: (text: string) => void) => Promise<Finding[]>;

const SECTIONS: Readonly<Record<string, Section>> = { race, http, cost, memory, timers, runs, detached };

const only = process.argv.slice(2);
const progress = (text: string) => void process.stderr.write(`${text}\n`);
const findings: Finding[] = [];
for (const [name, section] of Object.entries(SECTIONS)) {
  if (only.length > 0 && !only.includes(name)) continue;
  const redis = await startRedis({ args: ['--save', '', '--appendonly', 'no'] });
  try {
    findings.push(...(await section(redis.url, progress)));
  } finally {
    await redis.stop();
  }
}
process.stdout.write(
  `\n${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.version}\n`,
);
process.stdout.write(`${formatFindings(findings)}\n`);
process.exit(0);
