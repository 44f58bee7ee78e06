import { type SentinelConnectionOptions, SentinelConnector } from 'ioredis';
import { boundHandshake } from './handshake.ts';
import { serverNameOf } from './server-name.ts';
import { shareWrites } from './shared-writes.ts';

/**
 * The method with which ioredis connects to a Sentinel, which it declares private. It passes the same TLS options to all
 * Sentinels.
 */
interface SentinelOpener {
  connectToSentinel(endpoint: { readonly host?: string }, more?: object): unknown;
}

/**
 * Finds the master through Sentinels for every connection, and limits the time of the handshake. During a search, ioredis keeps
 * listening for failovers, and one that is reported then ends the connection for good (status `end`). Therefore the listeners
 * of the last connection are closed before the next search.
 */
export class PersistentSentinelConnector extends SentinelConnector {
  #onHandshakeEnd = () => {};

  // ioredis passes the options of the connection to its connectors, but types them as unknown.
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

  /** ioredis calls this with the reply to the ready check, the last step of a handshake. */
  override check(info: Parameters<SentinelConnector['check']>[0]): boolean {
    this.#onHandshakeEnd();
    return super.check(info);
  }
}
