import { createServer, request } from 'node:http';
import { listenOnFreePort } from '../free-port.ts';

/** A proxy between pods and their model that can stop replies after their first words. */
export interface ModelGate {
  /** Its base URL, instead of the model's. */
  readonly url: string;
  /** Replies stop after their first words: those that begin now, and those under way. */
  hold(): void;
  /** All replies go on. */
  release(): void;
  stop(): void;
}

/** Role, and a few words. */
const FIRST_EVENTS = 4;
const EVENT_END = '\n\n';

export async function startModelGate(modelUrl: string): Promise<ModelGate> {
  const { origin, pathname } = new URL(modelUrl);
  let open: Promise<void> = Promise.resolve();
  let release = (): void => undefined;
  const server = createServer((req, res) => {
    const upstream = request(new URL(req.url ?? '', origin), { method: req.method, headers: req.headers });
    upstream.on('response', async (reply) => {
      res.writeHead(reply.statusCode ?? 502, reply.headers);
      res.flushHeaders();
      let events = 0;
      let rest = '';
      try {
        for await (const piece of reply.setEncoding('utf8')) {
          const texts = `${rest}${piece}`.split(EVENT_END);
          rest = texts.pop() ?? '';
          for (const text of texts) {
            events += 1;
            if (events > FIRST_EVENTS) await open;
            res.write(`${text}${EVENT_END}`);
          }
        }
        res.end(rest);
      } catch {
        res.destroy();
      }
    });
    upstream.on('error', () => res.destroy());
    res.on('close', () => upstream.destroy());
    req.pipe(upstream);
  });
  const port = await listenOnFreePort(server);
  return {
    url: `http://127.0.0.1:${port}${pathname}`,
    hold() {
      release();
      open = new Promise((resolve) => {
        release = resolve;
      });
    },
    release: () => release(),
    stop() {
      release();
      server.close();
      server.closeAllConnections();
    },
  };
}
