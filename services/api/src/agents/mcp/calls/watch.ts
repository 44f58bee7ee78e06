/**
 * Watches resources over one connection, in both revisions of MCP. Sharing and replacing watches is in
 * `agents/tools/passthrough/resource-watches.ts`.
 */

import { type McpSubscription, ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { McpConnection } from '../connection.ts';
import { failureOf } from '../failure.ts';
import type { McpLimits } from '../limits.ts';
import type { Pool } from '../pool.ts';
import type { McpFailure } from '../results.ts';
import type { ServerTarget } from '../target.ts';
import { type Exchanges, raceAbort, startExchange } from '../transports/exchange.ts';

/** The resources of one server that are to be watched. The set may change during the watch. */
export interface WantedResources {
  uris(): ReadonlySet<string>;
  /**
   * Resolves when `uris` differs from the set at the last call, or the signal is aborted. If the server refused a resource that
   * it reported before, it also resolves after a while.
   */
  changed(signal: AbortSignal): Promise<void>;
  /** From now on the server reports changes of the resource. */
  watched(uri: string): void;
  /** The server does not report changes of the resource, at least for now. */
  refused(uri: string, failure: McpFailure): void;
  /** The resource has changed, or may have changed. */
  updated(uri: string): void;
}

/**
 * Why resources are no longer watched. `interrupted`: the connection broke, or no resource is wanted. `absent`: the server
 * cannot report changes.
 */
export type WatchEnd = { readonly type: 'interrupted' } | { readonly type: 'absent' } | McpFailure;

/** Watches resources over one connection until none are wanted or the connection breaks. Never rejects. */
type WatchServer = (target: ServerTarget, wanted: WantedResources, signal: AbortSignal) => Promise<WatchEnd>;

interface WatcherDeps {
  readonly pool: Pool<ServerTarget>;
  readonly exchanges: Exchanges;
  readonly limits: McpLimits;
}

const Nothing = z.looseObject({});
const NOT_REPORTED: McpFailure = {
  type: 'refused',
  message: 'The server does not report changes of this resource.',
};

/** How many subscriptions a connection begins at the same time. */
const AT_ONCE = 20;

/** True for an error of one request that does not affect the shared connection. */
function isOfRequest(error: unknown): boolean {
  if (error instanceof SdkError) return error.code === SdkErrorCode.RequestTimeout;
  return error instanceof ProtocolError;
}

/** The subscriptions of a connection, in either revision. */
interface Subscribed {
  /** Subscribes to the new resources in this nonempty set, and ends the subscriptions that are not in it. */
  adjust(uris: ReadonlySet<string>): Promise<void>;
  close(): Promise<void>;
}

export function createWatcher({ pool, exchanges, limits }: WatcherDeps): WatchServer {
  const timeout = limits.callTimeoutMs;

  async function send(connection: McpConnection, method: string, uri: string): Promise<unknown> {
    const exchange = startExchange({ timeoutMs: timeout });
    const { signal } = exchange;
    const reply = exchanges.run(exchange, () =>
      connection.client.request({ method, params: { uri } }, Nothing, { signal, timeout }),
    );
    return raceAbort(exchange, reply).finally(exchange.end);
  }

  /** One subscription for each resource (2025-11-25). */
  function bySession(connection: McpConnection, wanted: WantedResources, known: Set<string>): Subscribed {
    const end = (uri: string) => send(connection, 'resources/unsubscribe', uri).catch(() => undefined);
    async function begin(uri: string): Promise<void> {
      // The resource counts as known before the reply, because reports may precede the reply.
      known.add(uri);
      try {
        await send(connection, 'resources/subscribe', uri);
        wanted.watched(uri);
      } catch (error) {
        known.delete(uri);
        if (!isOfRequest(error)) throw error;
        wanted.refused(uri, failureOf(error, 'maybe'));
      }
    }
    return {
      async adjust(uris) {
        const added = [...uris].filter((one) => !known.has(one));
        for (let at = 0; at < added.length; at += AT_ONCE)
          await Promise.all(added.slice(at, at + AT_ONCE).map(begin));
        const over = [...known].filter((uri) => !uris.has(uri));
        for (const uri of over) known.delete(uri);
        await Promise.all(over.map(end));
      },
      async close() {
        if (!connection.notices.lost.aborted) await Promise.all([...known].map(end));
      },
    };
  }

  /** One stream for all resources (2026-07-28). The next stream opens before the previous one closes. */
  function byListening(
    connection: McpConnection,
    wanted: WantedResources,
    known: Set<string>,
    onEnd: () => void,
  ) {
    let current: McpSubscription | undefined;
    const subscribed: Subscribed = {
      async adjust(uris) {
        const isSame = uris.size === known.size && [...uris].every((uri) => known.has(uri));
        if (isSame) return;
        const last = current;
        try {
          current = await listen([...uris]);
        } catch (error) {
          if (!isOfRequest(error)) throw error;
          // The resources that were watched before stay watched.
          for (const uri of uris) if (!known.has(uri)) wanted.refused(uri, failureOf(error, 'maybe'));
          return;
        }
        const next = current;
        next.closed.then((why) => why !== 'local' && next === current && onEnd());
        take(new Set(next.honoredFilter.resourceSubscriptions), uris);
        await last?.close();
      },
      close: async () => current?.close(),
    };
    /** Reports which resources the server agreed to watch. */
    function take(honored: ReadonlySet<string>, uris: ReadonlySet<string>): void {
      const before = new Set(known);
      known.clear();
      for (const uri of uris) {
        if (honored.has(uri)) known.add(uri);
        else wanted.refused(uri, NOT_REPORTED);
      }
      for (const uri of known) if (!before.has(uri)) wanted.watched(uri);
    }
    const listen = (resourceSubscriptions: string[]) =>
      connection.client.listen({ resourceSubscriptions }, { timeout });
    return subscribed;
  }

  async function watchOn(
    connection: McpConnection,
    wanted: WantedResources,
    signal: AbortSignal,
  ): Promise<WatchEnd> {
    const { client, notices } = connection;
    if (client.getServerCapabilities()?.resources?.subscribe !== true) return { type: 'absent' };
    const known = new Set<string>();
    const ending = new AbortController();
    const over = AbortSignal.any([signal, notices.lost, ending.signal]);
    const isModern = client.getProtocolEra() === 'modern';
    const subscribed = isModern
      ? byListening(connection, wanted, known, () => ending.abort())
      : bySession(connection, wanted, known);
    const unfollow = notices.follow((uri) => {
      for (const one of known) if (uri === undefined || isWithin(uri, one)) wanted.updated(one);
    });
    try {
      // Reports before the stream is open are lost. In the newer revision the subscription has its own stream.
      if (!isModern) await connection.listening();
      if (notices.areAbsent) return { type: 'absent' };
      if (notices.lost.aborted) return { type: 'interrupted' };
      for (;;) {
        const uris = wanted.uris();
        if (over.aborted || uris.size === 0) return { type: 'interrupted' };
        await subscribed.adjust(uris);
        await wanted.changed(over);
      }
    } finally {
      unfollow();
      await subscribed.close().catch(() => undefined);
    }
  }

  return async (target, wanted, signal) => {
    try {
      return await pool.use(target, async (connection) => {
        try {
          const end = await watchOn(connection, wanted, signal);
          const { lost, areAbsent } = connection.notices;
          if (lost.aborted && !areAbsent) pool.retire(target, connection);
          return end;
        } catch (error) {
          if ((await connection.sessionAfter(error)) !== 'known') pool.retire(target, connection);
          throw error;
        }
      });
    } catch (error) {
      return failureOf(error, 'maybe');
    }
  };
}

/** True for the resource itself and for resources below it: servers may report parts of what was subscribed to. */
export function isWithin(uri: string, subscribed: string): boolean {
  if (!uri.startsWith(subscribed)) return false;
  const rest = uri.slice(subscribed.length);
  return rest === '' || subscribed.endsWith('/') || /^[/?#]/.test(rest);
}
