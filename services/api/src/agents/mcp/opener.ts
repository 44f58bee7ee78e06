import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { type Link, type LinkDeps, openLink } from './link.ts';
import type { LinkPlace } from './pool.ts';
import type { McpCredential, McpServerConfig } from './server-config.ts';
import { createRestarts } from './transports/restarts.ts';

/** A server as one credential sees it. */
export interface ServerPlace extends LinkPlace {
  readonly config: McpServerConfig;
  readonly credential?: McpCredential | undefined;
}

export interface OpenHooks {
  readonly signal: AbortSignal;
  readonly onClosed: () => void;
}

/** Opens connections; keeps children that die from being started in a loop. */
export function createOpener(
  deps: LinkDeps,
  onToolsChanged: (place: ServerPlace) => void,
): (place: ServerPlace, hooks: OpenHooks) => Promise<Link> {
  const restarts = createRestarts(deps.limits);
  const legacyOnly = new Set<string>();

  async function open(place: ServerPlace, hooks: OpenHooks): Promise<Link> {
    const { config, credential } = place;
    const attempt = () =>
      openLink(deps, {
        config,
        credential,
        signal: hooks.signal,
        isLegacy: legacyOnly.has(config.id),
        onClosed: hooks.onClosed,
        onToolsChanged: () => onToolsChanged(place),
      });
    try {
      return await attempt();
    } catch (error) {
      // Some programs of the older revision end at the first request that they do not know.
      const endedAtProbe = config.transport.type === 'stdio' && isNegotiation(error);
      if (!endedAtProbe || legacyOnly.has(config.id)) throw error;
      legacyOnly.add(config.id);
      return await attempt().catch((second: unknown) => {
        legacyOnly.delete(config.id);
        throw second;
      });
    }
  }

  async function openChild(place: ServerPlace, { signal, onClosed }: OpenHooks): Promise<Link> {
    await restarts.turn(place.key, signal);
    let bornAt: number | undefined;
    let isWanted = true;
    const onGone = () => {
      // Those that end before the handshake count below, once.
      if (isWanted && bornAt !== undefined) restarts.died(place.key, performance.now() - bornAt);
      isWanted = false;
      onClosed();
    };
    try {
      const link = await open(place, { signal, onClosed: onGone });
      bornAt = performance.now();
      return {
        ...link,
        close: () => {
          isWanted = false;
          return link.close();
        },
      };
    } catch (error) {
      if (!signal.aborted) restarts.died(place.key, 0);
      throw error;
    }
  }

  return (place, hooks) =>
    place.config.transport.type === 'stdio' ? openChild(place, hooks) : open(place, hooks);
}

function isNegotiation(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
}
