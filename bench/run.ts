import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { startRedis } from '../test/harness/redis/redis-server.ts';
import { formatMeasurements, type Measurement } from './measurement.ts';
import { NAMED_PARTS, PARTS } from './parts.ts';

const USAGE = `npm run bench -- [--size SHARE | --quick] [--json] [PART ...]
  --size      how much of the full size, e.g. 0.2; 1 by default
  --quick     every part once, with as few repetitions as it takes to get a figure: less than a minute
  --json      the measurements of each part as one line of JSON, instead of the table
  PART        ${Object.keys(PARTS).join(', ')}; all of these by default;
              ${Object.keys(NAMED_PARTS).join(', ')}: what may be used instead of Parley; installs it first
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const size = values.quick ? 0 : Number(values.size);
if (!(size >= 0) || positionals.some((name) => !(name in PARTS || name in NAMED_PARTS))) {
  process.stderr.write(USAGE);
  process.exit(2);
}

/** Without an `await` of the module itself: a bundle, from which the tests start this, is a script. */
async function main(): Promise<void> {
  const measurements: Record<string, Measurement[]> = {};
  const chosen = Object.entries({ ...PARTS, ...NAMED_PARTS }).filter(([name]) =>
    positionals.length === 0 ? name in PARTS : positionals.includes(name),
  );
  for (const [name, part] of chosen) {
    const startedAt = performance.now();
    const redis = await startRedis({ args: ['--save', '', '--appendonly', 'no'] });
    try {
      measurements[name] = await part({
        redisUrl: redis.url,
        scaled: (full, least) => Math.max(least, Math.round(full * size)),
        progress: (text) => void process.stderr.write(`${text}\n`),
      });
    } finally {
      await redis.stop();
    }
    process.stderr.write(`${name}: ${Math.round((performance.now() - startedAt) / 1_000)} s\n`);
  }
  if (values.json) {
    process.stdout.write(`${JSON.stringify(measurements)}\n`);
  } else {
    process.stdout.write(
      `\n${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.version}\n`,
    );
    process.stdout.write(`${formatMeasurements(Object.values(measurements).flat())}\n`);
  }
  // BullMQ keeps timers of its own, which would hold the process for seconds.
  process.exit(0);
}

void main();
