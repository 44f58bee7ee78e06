import type { WantedResources, WatchEnd } from '../../mcp/calls/watch.ts';
import type { PersonalService } from '../personal-service.ts';

/** How often the account is checked while resources are watched with it, in ms. */
const LOOK_EVERY_MS = 30_000;
const CONNECTED = { type: 'connected' } as const;

/**
 * Watches resources with a person's account while the account exists. An open connection does not send the credential again, so
 * without this check the server would still report to a person who has disconnected. Undefined without the account.
 */
export async function watchWhileConnected(
  service: Pick<PersonalService, 'read'>,
  wanted: WantedResources,
  signal: AbortSignal,
): Promise<WatchEnd | undefined> {
  const disconnected = new AbortController();
  const ending = AbortSignal.any([signal, disconnected.signal]);
  const look = async () => {
    if ((await service.read(async () => CONNECTED, ending)) === undefined) disconnected.abort();
  };
  // An unavailable store does not end the watch.
  const looking = setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS).unref();
  try {
    return await service.read((server) => server.watch(wanted, ending), ending);
  } finally {
    clearInterval(looking);
  }
}
