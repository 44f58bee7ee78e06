import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { type McpConnection, type McpConnectionDeps, openConnection } from './connection.ts';
import type { ServerTarget } from './target.ts';
import { createRestarts } from './transports/restarts.ts';

export interface OpenHooks {
  readonly signal: AbortSignal;
  readonly onClosed: () => void;
}

/** Opens connections. Delays the restart of a child process that crashes repeatedly. */
export function createOpener(
  deps: McpConnectionDeps,
  onToolsChanged: (target: ServerTarget) => void,
): (target: ServerTarget, hooks: OpenHooks) => Promise<McpConnection> {
  const restarts = createRestarts(deps.limits);
  const legacyOnly = new Set<string>();

  async function open(target: ServerTarget, hooks: OpenHooks): Promise<McpConnection> {
    const { config, credential, modes } = target;
    const attempt = () =>
      openConnection(deps, {
        config,
        credential,
        modes,
        signal: hooks.signal,
        isLegacy: legacyOnly.has(config.id),
        onClosed: hooks.onClosed,
        onToolsChanged: () => onToolsChanged(target),
      });
    try {
      return await attempt();
    } catch (error) {
      // Some programs of the older revision exit at the first request that they do not know.
      const exitedAtProbe = config.transport.type === 'stdio' && isNegotiationFailure(error);
      if (!exitedAtProbe || legacyOnly.has(config.id)) throw error;
      legacyOnly.add(config.id);
      return await attempt().catch((second: unknown) => {
        legacyOnly.delete(config.id);
        throw second;
      });
    }
  }

  async function openChild(target: ServerTarget, { signal, onClosed }: OpenHooks): Promise<McpConnection> {
    const program = target.config.id;
    await restarts.wait(program, signal);
    let startedAt: number | undefined;
    let isInUse = true;
    const onExit = () => {
      // A process that exits before the handshake is counted below, once.
      if (isInUse && startedAt !== undefined) restarts.crashed(program, performance.now() - startedAt);
      isInUse = false;
      onClosed();
    };
    try {
      const connection = await open(target, { signal, onClosed: onExit });
      startedAt = performance.now();
      return {
        ...connection,
        close: () => {
          isInUse = false;
          return connection.close();
        },
      };
    } catch (error) {
      if (!signal.aborted) restarts.crashed(program, 0);
      throw error;
    }
  }

  return (target, hooks) =>
    target.config.transport.type === 'stdio' ? openChild(target, hooks) : open(target, hooks);
}

function isNegotiationFailure(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
}
