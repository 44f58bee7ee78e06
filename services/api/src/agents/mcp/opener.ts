/**
 * Opens connections in a fitting revision, and delays restarts of crashing programs. The handshake is in `connection.ts`, the
 * choice of the revision in `revisions/negotiation.ts`.
 */

import { type McpConnection, type McpConnectionDeps, openConnection } from './connection.ts';
import { RevisionRefused } from './errors.ts';
import type { ChosenRevision, RevisionMemory } from './revisions/memory.ts';
import { negotiate, type OpenIn, openOnly } from './revisions/negotiation.ts';
import type { McpRevision } from './server-config.ts';
import type { ServerTarget } from './target.ts';
import { createRestarts } from './transports/restarts.ts';

interface OpenHooks {
  readonly signal: AbortSignal;
  readonly onClosed: () => void;
}

/**
 * Opens connections, in the revision of their target or in the one in which the server can ask. Delays the restart of a child
 * process that crashes repeatedly.
 */
export function createOpener(
  deps: McpConnectionDeps,
  memory: RevisionMemory,
  onToolsChanged: (target: ServerTarget) => void,
): (target: ServerTarget, hooks: OpenHooks) => Promise<McpConnection> {
  const restarts = createRestarts(deps.limits);

  async function open(target: ServerTarget, hooks: OpenHooks): Promise<McpConnection> {
    const { config, revision } = target;
    const isProgram = config.transport.type === 'stdio';
    const openIn: OpenIn = (one, options) => attempt(target, hooks, one, options?.needsSession);
    if (revision !== undefined) {
      const connection = await openOnly(openIn, config.id, revision);
      if (config.revision !== undefined) memory.chosen(config.id, { revision, reason: 'configured' });
      return connection;
    }
    const known = memory.of(config.id);
    const again = known === undefined ? undefined : await openKnown(config.id, openIn, known, isProgram);
    if (again !== undefined) return again;
    const { connection, reason } = await negotiate(openIn, isProgram);
    memory.chosen(config.id, { revision: connection.revision, reason });
    return connection;
  }

  /** Returns undefined if the server no longer accepts that revision, or can no longer ask in it. */
  async function openKnown(
    serverId: string,
    openIn: OpenIn,
    { revision, reason }: ChosenRevision,
    isProgram: boolean,
  ): Promise<McpConnection | undefined> {
    const needsSession = reason === 'can_ask' && !isProgram;
    try {
      return await openOnly((one) => openIn(one, { needsSession }), serverId, revision);
    } catch (error) {
      memory.forget(serverId);
      if (error instanceof RevisionRefused) return undefined;
      throw error;
    }
  }

  /** Makes one attempt. Until it succeeds, the end of its transport is not reported to anybody else. */
  async function attempt(
    target: ServerTarget,
    { signal, onClosed }: OpenHooks,
    revision: McpRevision,
    needsSession: boolean | undefined,
  ): Promise<McpConnection> {
    signal.throwIfAborted();
    const { config, credential, modes } = target;
    let isOpen = false;
    let isClosed = false;
    const connection = await openConnection(deps, {
      config,
      credential,
      modes,
      signal,
      revision,
      needsSession,
      onClosed: () => {
        isClosed = true;
        if (isOpen) onClosed();
      },
      onToolsChanged: () => onToolsChanged(target),
    });
    isOpen = true;
    if (isClosed) onClosed();
    return connection;
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
