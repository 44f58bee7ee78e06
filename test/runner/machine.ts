import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/** How long the work takes on an idle machine of the kind that test/costs.json was recorded on, in ms. */
const REFERENCE_MS = 330;
export const PACE_MAX = 10;

export interface Machine {
  /** Cores that this process may use. */
  readonly cores: number;
  /** How much slower than the reference a core is now, other programs included. From 1 to 10. */
  readonly pace: number;
}

// The thread hashes, parses and allocates, as tests do. Its source is a text, because it would otherwise compile a file first.
const WORK = `
const { createHash } = require('node:crypto');
const { parentPort } = require('node:worker_threads');
const startedAt = performance.now();
const block = Buffer.alloc(1 << 20, 7);
const hash = createHash('sha256');
for (let at = 0; at < 64; at += 1) hash.update(block);
let value = { digest: hash.digest('hex'), list: Array.from({ length: 2000 }, (_, at) => ({ at, text: 'x'.repeat(at % 50) })) };
for (let at = 0; at < 150; at += 1) value = JSON.parse(JSON.stringify(value));
parentPort.postMessage(performance.now() - startedAt);
`;

/** Does a fixed piece of work on every core at once, and compares how long it takes with the reference. */
export async function measureMachine(): Promise<Machine> {
  const cores = countCores();
  const took = await Promise.all(Array.from({ length: cores }, doWork));
  const pace = Math.max(...took) / REFERENCE_MS;
  return { cores, pace: Math.min(PACE_MAX, Math.max(1, pace)) };
}

/** The cores that a scheduler lets this process have, and no more than the quota of its container pays for, rounded up. */
function countCores(): number {
  const [quota, period] = readQuota().split(' ').map(Number);
  const paid = Math.ceil((quota ?? Number.NaN) / (period ?? Number.NaN));
  return paid >= 1 ? Math.min(availableParallelism(), paid) : availableParallelism();
}

/** `max 100000` where nothing is limited, `200000 100000` for two cores; empty where there are no control groups (cgroup v2). */
function readQuota(): string {
  try {
    return readFileSync('/sys/fs/cgroup/cpu.max', 'utf8').trim();
  } catch {
    return '';
  }
}

function doWork(): Promise<number> {
  return new Promise((resolve, reject) => {
    new Worker(WORK, { eval: true }).once('message', resolve).once('error', reject);
  });
}
