import { once } from '@parley/shared/async/once';

/** Loads the client of the A2A SDK at the first use of a remote agent. Pods without remote agents never load it. */
async function load() {
  const [core, client] = await Promise.all([import('@a2a-js/sdk'), import('@a2a-js/sdk/client')]);
  return { core, client };
}

export type ClientSdk = Awaited<ReturnType<typeof load>>;

export const createClientSdkLoader = (): (() => Promise<ClientSdk>) => once(load);
