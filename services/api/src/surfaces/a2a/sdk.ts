import { once } from '@parley/shared/async/once';

/** Loads the A2A SDK at the first call. A pod that nobody calls through A2A never loads it. */
async function load() {
  const [core, server, compat, errors] = await Promise.all([
    import('@a2a-js/sdk'),
    import('@a2a-js/sdk/server'),
    import('@a2a-js/sdk/compat/v0_3/server'),
    import('@a2a-js/sdk/errors'),
  ]);
  return { core, server, compat, errors };
}

export type Sdk = Awaited<ReturnType<typeof load>>;

export const createSdkLoader = (): (() => Promise<Sdk>) => once(load);
