import type { WantedResources, WatchEnd } from '../../mcp/calls/watch.ts';
import type { PersonalService } from '../personal-service.ts';

/** How often the account is looked at while resources are watched with it, in ms. */
const LOOK_EVERY_MS = 30_000;
const CONNECTED = { type: 'connected' } as const;

/**
 * Watches resources with a person's account, until it is gone: a connection that stays open sends no credential again, so
 * that its server would report to a person who has disconnected. Undefined without the account.
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
  // A store that does not answer ends nothing.
  const looking = setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS).unref();
  try {
    return await service.read((server) => server.watch(wanted, ending), ending);
  } finally {
    clearInterval(looking);
  }
}
