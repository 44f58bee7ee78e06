import { createServer, type RequestListener, type Server } from 'node:http';
import { eventNumberOf } from '@parley/core/domain/events';
import type { StreamItem, StreamOptions } from '@parley/sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ChaosProxy, createChaosProxy } from '../../harness/chaos/proxy.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import {
  colourQuestion,
  newUser,
  recordingFetch,
  serviceAt,
  tokenOf,
  userAt,
  type World,
} from '../../harness/sdk/setup.ts';
import { EXPIRING_SECONDS } from '../../harness/tokens.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** Streams and inboxes. */
export function eventSuite(world: () => World): void {
  /** The proxy between the reader and the balancer. */
  let line: ChaosProxy;
  const stops: AbortController[] = [];
  beforeEach(async () => {
    line = await createChaosProxy({ targetPort: world().balancer.port });
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) stop.abort();
    await line.close();
  });

  const lineUrl = () => `http://127.0.0.1:${line.port}`;
  const numberOf = (item: StreamItem) =>
    'id' in item ? eventNumberOf({ seq: Number(item.id?.split('-')[1]) }) : undefined;

  /** Reads in the background until the test ends. */
  function collect<Item>(follow: (options: { signal: AbortSignal }) => AsyncIterable<Item>) {
    const stop = new AbortController();
    stops.push(stop);
    const items: Item[] = [];
    const ended = (async () => {
      for await (const item of follow({ signal: stop.signal })) items.push(item);
    })();
    ended.catch(() => undefined);
    const until = (count: number) => waitUntil(() => items.length >= count, { what: `${count} items` });
    return { items, until, ended, stop };
  }

  /** The stream of one person, with a question that is asked without the proxy. */
  function newStream() {
    const userId = newUser();
    const streamRequestId = `turn-${newUser()}`;
    const ask = () => serviceAt(world().balancer.url).start(colourQuestion({ userId, streamRequestId }));
    const follow = (more: StreamOptions = {}) =>
      collect((options) => userAt(lineUrl(), userId).events(streamRequestId, { ...options, ...more }));
    return { userId, streamRequestId, ask, follow };
  }

  describe('events', () => {
    it('continue from another pod without a gap or a repetition', async () => {
      const [first, second] = world().pods.map(({ url }) => url);
      if (first === undefined || second === undefined) throw new Error('two pods are needed');
      const { userId, ask, follow } = newStream();
      const { elicitation } = await ask();
      await world().balancer.setTargets([first]);
      const { items, until } = follow();
      await until(1);
      await world().balancer.setTargets([second]);
      line.reset();
      await ask();
      await until(2);
      line.reset();
      await userAt(world().balancer.url, userId).answer(elicitation.elicitationId, { action: 'decline' });
      await ask();
      await until(4);
      await world().balancer.setTargets([first, second]);
      expect(items.map(numberOf)).toEqual([1, 2, 3, 4]);
      expect(items.map(({ type }) => type)).toEqual([
        'elicitation-request',
        'elicitation-request',
        'elicitation-resolved',
        'elicitation-request',
      ]);
      expect(items[2]).toMatchObject({ elicitation: { status: 'declined' } });
    });

    it("begin after the caller's last event", async () => {
      const { ask, follow } = newStream();
      await ask();
      await ask();
      const { items, until } = follow();
      await until(2);
      const [first, second] = items;
      const lastEventId = first !== undefined && 'id' in first ? first.id : undefined;
      if (lastEventId === undefined) throw new Error('an id is needed');
      const again = follow({ lastEventId });
      await again.until(1);
      expect(again.items[0]).toMatchObject({ type: second?.type, id: expect.stringMatching(/-2\d{6}$/) });
    });

    it('end with a reason when their token expires, and continue with the next token', async () => {
      const { userId, streamRequestId, ask } = newStream();
      await ask();
      const expiring = () => tokenOf(userId, EXPIRING_SECONDS);
      let tokens = 0;
      const token = () => {
        tokens += 1;
        return tokens === 1 ? expiring() : tokenOf(userId);
      };
      const { items, until } = collect((options) =>
        userAt(lineUrl(), userId, { token }).events(streamRequestId, options),
      );
      const text = await textOf(`${lineUrl()}/v1/streams/${streamRequestId}/events`, await expiring());
      expect(text).toMatch(/\nevent: stream-closed\ndata: {"reason":"token_expired"}\n\nretry: \d+\n$/);
      await waitUntil(() => tokens > 1, { what: 'the second token' });
      await ask();
      await until(2);
      expect(items.map(numberOf)).toEqual([1, 2]);
    });

    it('continue when the connection is lost without an error', async () => {
      const { ask, follow } = newStream();
      await ask();
      const { items, until } = follow({ heartbeatTimeoutMs: 1_000 });
      await until(1);
      line.killOld();
      await ask();
      await until(2);
      expect(items.map(numberOf)).toEqual([1, 2]);
    });

    it('report that a feed was lost', async () => {
      const { userId, streamRequestId, ask } = newStream();
      const { items, until } = collect((options) =>
        serviceAt(lineUrl()).events(streamRequestId, { ...options, userId }),
      );
      const { elicitation: before } = await ask();
      await until(1);
      await redisCommand(world().redis.port, 'FLUSHALL');
      line.reset();
      const { elicitation: after } = await ask();
      await until(3);
      expect(items).toMatchObject([
        { type: 'elicitation-request', elicitation: { elicitationId: before.elicitationId } },
        { type: 'stream-reset' },
        { type: 'elicitation-request', elicitation: { elicitationId: after.elicitationId } },
      ]);
    });

    it('end with a typed error when they are refused', async () => {
      const { streamRequestId, ask, follow } = newStream();
      await expect(follow().ended).rejects.toMatchObject({ code: 'not_found', status: 404 });
      await ask();
      const stranger = userAt(lineUrl(), newUser()).events(streamRequestId);
      await expect(stranger.next()).rejects.toMatchObject({ code: 'not_found' });
      const nobody = userAt(lineUrl(), newUser(), { token: 'forged' }).events(streamRequestId);
      await expect(nobody.next()).rejects.toMatchObject({ code: 'unauthenticated', status: 401 });
      await expect(serviceAt(lineUrl()).inbox().next()).rejects.toMatchObject({ code: 'forbidden' });
      await expect(follow({ lastEventId: 'mine' }).ended).rejects.toMatchObject({ code: 'invalid_request' });
    });

    it('are not requested in a tight loop when a server sends none', async () => {
      const { fetch, sent } = recordingFetch(async () => new Response('<html>'));
      const page = serviceAt(lineUrl(), { fetch }).events('turn');
      await expect(page.next()).rejects.toMatchObject({ code: 'internal', status: 200 });
      expect(sent).toHaveLength(1);
    });
  });

  describe('events of any server', () => {
    let server: Server | undefined;
    afterEach(() => {
      server?.close();
      server?.closeAllConnections();
    });

    async function serve(listener: RequestListener): Promise<string> {
      server = createServer(listener);
      return `http://127.0.0.1:${await listenOnFreePort(server)}`;
    }

    it('pass through, whatever their type, and cut anywhere', async () => {
      const text =
        '\u{feff}retry: 10\n\n: hello\n\nid: 7-1\nevent: tea-served\ndata: {"cups": 2, "kind": "grün"}\n\n' +
        'event: elicitation-request\ndata: not json\n\ndata: 1\r\n\r\nid: 7-2\nevent: half';
      const { fetch } = recordingFetch(async ({ headers }) => {
        const after = headers.get('last-event-id');
        const reply = after === null ? text : `id: 7-9\nevent: resumed\ndata: ${JSON.stringify(after)}\n\n`;
        // Byte by byte, so that every character and line is cut somewhere.
        const body = new ReadableStream<Uint8Array>({
          start(chunks) {
            for (const byte of Buffer.from(reply)) chunks.enqueue(Uint8Array.of(byte));
            chunks.close();
          },
        });
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      });
      const { items, until, stop } = collect((options) =>
        serviceAt(lineUrl(), { fetch }).events('turn', options),
      );
      await until(4);
      stop.abort();
      expect(items.slice(0, 4)).toEqual([
        { type: 'other', event: 'tea-served', id: '7-1', data: { cups: 2, kind: 'grün' } },
        { type: 'other', event: 'elicitation-request', data: 'not json' },
        { type: 'other', event: 'message', data: 1 },
        { type: 'other', event: 'resumed', id: '7-9', data: '7-1' },
      ]);
    });

    it('end without an error, and close the connection, when the loop ends', async () => {
      let open = 0;
      const url = await serve((_req, res) => {
        open += 1;
        res.on('close', () => {
          open -= 1;
        });
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write('data: 1\n\n');
      });
      const stopped = collect((options) => serviceAt(url).events('turn', options));
      await stopped.until(1);
      stopped.stop.abort();
      await stopped.ended;
      for await (const item of serviceAt(url).events('turn')) {
        expect(item.type).toBe('other');
        break;
      }
      await waitUntil(() => open === 0, { what: 'no open connection' });
    });

    it("are requested again after the server's retry time", async () => {
      const at: number[] = [];
      const url = await serve((_req, res) => {
        at.push(performance.now());
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.end('retry: 600\n\n');
      });
      collect((options) => serviceAt(url).events('turn', options));
      await waitUntil(() => at.length > 1, { what: 'a second connection' });
      expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(290);
    });
  });

  describe('inbox', () => {
    it('begins with a snapshot, delivers changes, and begins again after a reconnect', async () => {
      const { userId, ask } = newStream();
      const { elicitation } = await ask();
      const { items, until } = collect((options) => userAt(lineUrl(), userId).inbox(options));
      await until(1);
      expect(items[0]).toMatchObject({
        type: 'inbox-snapshot',
        elicitations: [{ elicitationId: elicitation.elicitationId }],
      });
      const second = await ask();
      await userAt(world().balancer.url, userId).answer(elicitation.elicitationId, { action: 'decline' });
      await until(3);
      expect(items.slice(1)).toMatchObject([
        { type: 'elicitation-request', elicitation: { elicitationId: second.elicitation.elicitationId } },
        { type: 'elicitation-resolved', elicitation: { status: 'declined' } },
      ]);
      line.reset();
      await until(4);
      expect(items[3]).toMatchObject({
        type: 'inbox-snapshot',
        elicitations: [{ elicitationId: second.elicitation.elicitationId }],
      });
    });
  });
}

/** The text of a stream until its connection ends, in whichever way. */
async function textOf(url: string, token: string): Promise<string> {
  const { body } = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  let text = '';
  try {
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece;
  } catch {
    // The connection is destroyed, since a clean end would read as the end of the stream.
  }
  return text;
}
