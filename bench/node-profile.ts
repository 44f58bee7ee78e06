import { type Profiler, Session } from 'node:inspector/promises';

// Short enough for a few thousand samples of each measured second.
const SAMPLE_MICROSECONDS = 250;

/** Microseconds of this process, while `run` ran, by what it executed: a part of the product, a package, or Node itself. */
export async function profileNode(run: () => Promise<unknown>): Promise<ReadonlyMap<string, number>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROSECONDS });
  await session.post('Profiler.start');
  await run();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  return microsecondsByPart(profile);
}

function microsecondsByPart({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Map<string, number> {
  const parts = new Map(nodes.map(({ id, callFrame }) => [id, partOf(callFrame)]));
  const sums = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const part = parts.get(id);
    if (part !== undefined) sums.set(part, (sums.get(part) ?? 0) + (timeDeltas[index] ?? 0));
  }
  return sums;
}

/** Nothing for what is no work of the product: an idle process, and the profiler itself. */
function partOf({ functionName, url }: Profiler.Profile['nodes'][number]['callFrame']): string | undefined {
  if (url === '') return Object.hasOwn(NATIVE, functionName) ? NATIVE[functionName] : 'Node';
  if (url.includes('/bench/')) return 'the bench';
  const [, product] = /\/(?:shared|services\/[a-z]+)\/(?:dist|src)\/([^/]+)/.exec(url) ?? [];
  if (product !== undefined) return `Parley's ${product.replace(/\.[jt]s$/, '')}`;
  const [, packageName] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(url) ?? [];
  return packageName ?? 'Node';
}

const NATIVE: Readonly<Record<string, string | undefined>> = {
  '(idle)': undefined,
  // The work of the inspector.
  dispatch: undefined,
  '(garbage collector)': 'garbage collection',
  writev: 'writes to sockets',
  writeUtf8String: 'writes to sockets',
  writeBuffer: 'writes to sockets',
};
