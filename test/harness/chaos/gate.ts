import { connect, createServer, type Socket } from 'node:net';
import { listenOnFreePort } from '../free-port.ts';
import { createCommandReader } from './commands.ts';

/**
 * The fate of a command and its connection. `before`: the command never reaches Redis. `after`: Redis runs it, and its
 * reply is lost. Either way nothing more passes on that connection; `done` is called once it is cut.
 */
export type GateVerdict =
  | 'pass'
  | { readonly cut: 'before'; readonly done: () => void }
  | { readonly cut: 'after'; readonly done: () => void };

/** A proxy to Redis that inspects every command. */
export type ChaosGate = {
  readonly port: number;
  /** `redis://` URL of the gate. */
  readonly url: string;
  /** Holds back all bytes, each way and on every connection, without loss; `false` releases them. */
  stall(on: boolean): void;
  close(): Promise<void>;
};

export type GateOptions = {
  readonly targetPort: number;
  /** Called with each whole command before it is passed on. */
  readonly judge: (args: readonly string[]) => GateVerdict;
};

type Passage = { readonly client: Socket; readonly server: Socket };

/** Listens on a free port of 127.0.0.1 and passes everything on to `targetPort`, command by command. */
export async function createChaosGate({ targetPort, judge }: GateOptions): Promise<ChaosGate> {
  const passages = new Set<Passage>();
  let stalled = false;
  const listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const server = connect({ port: targetPort, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const passage = { client, server };
    passages.add(passage);
    for (const end of [client, server]) {
      end.on('error', () => undefined);
      if (stalled) end.pause();
    }
    client.once('close', () => {
      passages.delete(passage);
      server.destroy();
    });
    pass(passage, judge);
  });
  const port = await listenOnFreePort(listener);
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    stall(on) {
      stalled = on;
      for (const { client, server } of passages) {
        for (const end of [client, server]) on ? end.pause() : end.resume();
      }
    },
    async close() {
      const closed = new Promise((resolve) => listener.close(resolve));
      for (const { client } of passages) client.destroy();
      await closed;
    },
  };
}

function pass({ client, server }: Passage, judge: GateOptions['judge']): void {
  const read = createCommandReader();
  let cut = false;
  client.on('data', (chunk) => {
    if (cut) return;
    for (const { args, bytes } of read(chunk)) {
      const verdict = judge(args);
      if (verdict === 'pass') {
        server.write(bytes);
        continue;
      }
      cut = true;
      if (verdict.cut === 'before') return verdict.done();
      // Redis runs what it was sent before it sees the end and hangs up.
      server.once('close', verdict.done);
      server.end(bytes);
      return;
    }
  });
  server.on('data', (chunk) => {
    if (!cut) client.write(chunk);
  });
  client.on('end', () => server.end());
  server.on('end', () => {
    if (cut) server.destroy();
    else client.end();
  });
  server.on('close', () => {
    if (!cut) client.destroy();
  });
}
