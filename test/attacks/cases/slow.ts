import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen, portOf } from '../../../services/api/src/wiring/server.ts';
import { expectProblem } from '../../harness/attacks/call.ts';
import { head, onlyReply } from '../../harness/attacks/raw.ts';
import { type OpenStream, openStream } from '../../harness/attacks/stream.ts';
import { newPerson, SERVICE_KEYS, type World } from '../../harness/attacks/world.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const STREAMS_MAX = 20;

/** A connection on which a request comes in byte by byte. */
interface Trickle {
  readonly closed: () => boolean;
  readonly text: () => string;
  stop(): void;
}

function trickle(port: number, start: string, everyMs: number): Trickle {
  const socket: Socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('error', () => undefined);
  socket.on('data', (data) => {
    text += data.toString();
  });
  socket.write(start);
  const drip = setInterval(() => socket.write('a'), everyMs);
  socket.once('close', () => clearInterval(drip));
  return {
    closed: () => socket.destroyed,
    text: () => text,
    stop() {
      clearInterval(drip);
      socket.destroy();
    },
  };
}

const SLOW_HEADERS = 'GET /healthz HTTP/1.1\r\nhost: parley\r\nx: ';
const SLOW_BODY = head('POST /v1/elicitations', {
  authorization: `Bearer ${SERVICE_KEYS.acme}`,
  'content-type': 'application/json',
  'content-length': '100000',
});
const SILENT = '';

/** Opened by the first suite; the last one checks how they ended. */
const trickles: Trickle[] = [];

export function slowAttacks(world: () => World): void {
  describe('S11 slow callers', () => {
    beforeAll(() => {
      for (const pod of world().pods) {
        for (let count = 0; count < 12; count += 1) {
          trickles.push(trickle(pod.port, count % 2 === 0 ? SLOW_HEADERS : SLOW_BODY, 1_000));
        }
        trickles.push(trickle(pod.port, SILENT, 100_000));
      }
    });
    it('other requests are served while many slow ones are open', async () => {
      const person = await newPerson();
      for (const pod of [0, 1] as const) {
        expect((await world().call({ path: '/readyz', pod })).status).toBe(200);
        const { elicitationId } = await world().ask(person);
        expect((await world().answer(person, elicitationId, { action: 'decline' })).status).toBe(200);
      }
    });

    it('a user has 20 streams over all pods, and one more when one is closed', async () => {
      const person = await newPerson();
      const { streamRequestId } = await world().ask(person);
      const paths = ['/v1/inbox/events', `/v1/streams/${streamRequestId}/events`];
      const open = (index: number): Promise<OpenStream> =>
        openStream(world().pods[index % 2 === 0 ? 0 : 1], paths[index % 3 === 0 ? 0 : 1] ?? '', person.token);
      const streams = await Promise.all(Array.from({ length: STREAMS_MAX }, (_, index) => open(index)));
      expect(streams.map(({ status }) => status)).toEqual(new Array(STREAMS_MAX).fill(200));
      for (const path of paths) {
        for (const pod of [0, 1] as const) {
          expectProblem(await world().call({ path, token: person.token, pod }), 429, 'rate_limited');
        }
      }
      const other = await newPerson();
      expect((await world().call({ path: '/v1/inbox/events', token: other.token })).status).toBe(200);
      streams[0]?.close();
      const next = await waitUntil(
        async () => {
          const stream = await open(1);
          if (stream.status === 200) return stream;
          stream.close();
          return undefined;
        },
        { what: 'the place of the closed stream' },
      );
      for (const stream of [...streams, next]) stream.close();
    });

    it.each([
      ['headers', SLOW_HEADERS],
      ['a body', SLOW_BODY],
    ])('%s that arrive byte by byte are cut off with a refusal', async (_what, start) => {
      const patience = { headersMs: 300, requestMs: 600, checkMs: 50 };
      const handled = (req: AsyncIterable<unknown>) => void drain(req);
      const server = await listen(handled, 0, '127.0.0.1', patience);
      const slow = trickle(portOf(server), start, 20);
      await waitUntil(slow.closed, { what: 'the connection to be cut' });
      expectProblem(onlyReply(slow.text()), 408, 'invalid_request');
      server.close();
    });
  });
}

/** Runs after the other suites, so that the wait costs no time of its own. */
export function slowPostChecks(): void {
  describe('S11 slow callers, after the timeouts', () => {
    afterAll(() => {
      for (const one of trickles) one.stop();
    });

    it('a pod waits 15 s for headers and 30 s for a whole request', async () => {
      const server = await listen(() => undefined, 0, '127.0.0.1');
      const { headersTimeout, requestTimeout } = server;
      server.close();
      expect({ headersTimeout, requestTimeout }).toEqual({ headersTimeout: 15_000, requestTimeout: 30_000 });
      await waitUntil(() => trickles.every((one) => one.closed()), {
        what: 'all slow connections to be cut',
        timeoutMs: 110_000,
        everyMs: 200,
      });
      for (const one of trickles) expectProblem(onlyReply(one.text()), 408, 'invalid_request');
    });
  });
}

async function drain(req: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const _ of req) await sleep(0);
  } catch {
    // Cut off: that is what is looked for.
  }
}
