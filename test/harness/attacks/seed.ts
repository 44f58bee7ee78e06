import fc from 'fast-check';

// Set PARLEY_SEED to repeat a run.
const given = Number.parseInt(process.env.PARLEY_SEED ?? '', 10);

/** Runs a property a few dozen times, after printing its seed, so that a failure or a hang can be repeated. */
export async function holds<Ts>(name: string, property: fc.IAsyncProperty<Ts>, numRuns = 40): Promise<void> {
  const seed = Number.isNaN(given) ? Math.floor(Math.random() * 2 ** 31) : given;
  process.stdout.write(`${name}: seed ${seed}, ${numRuns} runs\n`);
  await fc.assert(property, { seed, numRuns, interruptAfterTimeLimit: 20_000 });
}
