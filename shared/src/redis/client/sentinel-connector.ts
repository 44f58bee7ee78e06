import { type SentinelConnectionOptions, SentinelConnector } from 'ioredis';
import { boundHandshake } from './handshake.ts';
import { serverNameOf } from './server-name.ts';
import { shareWrites } from './shared-writes.ts';

/** What ioredis calls for each connection to a Sentinel, and declares private. It gives all Sentinels the same TLS options. */
interface SentinelOpener {
  connectToSentinel(endpoint: { readonly host?: string }, more?: object): unknown;
}

/**
 * Finds the master through Sentinels, for every connection, and bounds the handshake with it. ioredis keeps listening for
 * failovers while it searches for the new master, and a failover that is reported during the search ends the connection
 * for good (status `end`). So the listeners of the last connection are closed before the next search begins.
 */
export class PersistentSentinelConnector extends SentinelConnector {
  #onHandshakeEnd = () => {};

  // ioredis hands its connectors the options of the connection and calls them unknown.
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions);
    if (this.options.sentinelTLS === undefined) return;
    const opener = this as unknown as SentinelOpener;
    const open = opener.connectToSentinel.bind(this);
    opener.connectToSentinel = (endpoint, more) =>
      open(endpoint, { ...more, tls: { ...this.options.sentinelTLS, ...serverNameOf(endpoint.host) } });
  }

  override async connect(
    ...args: Parameters<SentinelConnector['connect']>
  ): ReturnType<SentinelConnector['connect']> {
    this.disconnect();
    const stream = await super.connect(...args);
    this.#onHandshakeEnd = boundHandshake(stream);
    shareWrites(stream);
    return stream;
  }

  /** What ioredis calls with the reply to the ready check, the last step of a handshake. */
  override check(info: Parameters<SentinelConnector['check']>[0]): boolean {
    this.#onHandshakeEnd();
    return super.check(info);
  }
}
