import { connect as connectTcp, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, type StandaloneConnectionOptions } from 'ioredis';
import { boundHandshake } from './handshake.ts';
import { serverNameOf } from './server-name.ts';
import { shareWrites } from './shared-writes.ts';

/**
 * Connects to one server, like ioredis's default connector, but limits the time of the handshake and combines writes.
 * Duplicates of a connection and the nodes of a Cluster use it too, because ioredis copies it with the other options.
 */
export class ServerConnector extends AbstractConnector {
  readonly #options: StandaloneConnectionOptions;
  #onHandshakeEnd = () => {};

  // ioredis passes the options of the connection to its connectors, but types them as unknown.
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

  /** ioredis calls this with the reply to the ready check, the last step of a handshake. */
  override check(info: unknown): boolean {
    this.#onHandshakeEnd();
    return super.check(info);
  }
}
