import { connect as connectTcp, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, type StandaloneConnectionOptions } from 'ioredis';
import { boundHandshake } from './handshake.ts';
import { serverNameOf } from './server-name.ts';
import { shareWrites } from './shared-writes.ts';

/**
 * Connects to one server, like the connector that ioredis uses by default, bounds the handshake, and shares writes.
 * Duplicates of a connection and the nodes of a Cluster use it, too: ioredis copies it with the other options.
 */
export class ServerConnector extends AbstractConnector {
  readonly #options: StandaloneConnectionOptions;
  #onHandshakeEnd = () => {};

  // ioredis hands its connectors the options of the connection and calls them unknown.
  constructor(options: unknown) {
    const connection = options as StandaloneConnectionOptions & { readonly disconnectTimeout: number };
    super(connection.disconnectTimeout);
    this.#options = connection;
  }

  override async connect(): Promise<Socket> {
    const { host, port, family, tls } = this.#options;
    const address = { host, port, family } as TcpNetConnectOpts;
    this.stream = tls ? connectTls({ ...address, ...serverNameOf(host), ...tls }) : connectTcp(address);
    this.stream.once('error', (error) => {
      this.firstError = error;
    });
    this.#onHandshakeEnd = boundHandshake(this.stream);
    shareWrites(this.stream);
    return this.stream;
  }

  /** What ioredis calls with the reply to the ready check, the last step of a handshake. */
  override check(info: unknown): boolean {
    this.#onHandshakeEnd();
    return super.check(info);
  }
}
