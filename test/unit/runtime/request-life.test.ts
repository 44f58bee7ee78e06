import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createDrain } from '../../../services/api/src/http/life/drain.ts';
import { RequestLife } from '../../../services/api/src/http/life/request-life.ts';

function begin() {
  const socket = new Socket();
  const res = new ServerResponse(new IncomingMessage(socket));
  res.assignSocket(socket);
  const drain = createDrain();
  const life = new RequestLife(res, drain);
  const calls: string[] = [];
  return { res, drain, life, calls, listen: (name: string) => life.whenOver(() => void calls.push(name)) };
}

async function close(res: ServerResponse): Promise<void> {
  const closed = once(res, 'close');
  res.socket?.destroy();
  await closed;
}

describe('the life of a request', () => {
  it('ends once, for its signal and each listener, when the pod drains and the caller disconnects after that', async () => {
    const { res, drain, life, calls, listen } = begin();
    listen('first');
    const { signal } = life;
    listen('second');
    expect([calls, signal.aborted]).toEqual([[], false]);
    drain.begin();
    await close(res);
    expect([calls, signal.aborted, life.draining]).toEqual([['first', 'second'], true, true]);
  });

  it('has ended at once for a listener that comes after the caller has gone, or after the drain has begun', async () => {
    const gone = begin();
    await close(gone.res);
    const draining = begin();
    draining.drain.begin();
    for (const { listen, life, calls } of [gone, draining]) {
      listen('late');
      expect([calls, life.signal.aborted]).toEqual([['late'], true]);
    }
  });

  it('leaves nothing in the drain, also when a listener comes after the reply was sent', async () => {
    const served = begin();
    served.listen('early');
    expect(served.drain.size).toBe(1);
    served.life.served();
    expect(served.drain.size).toBe(0);
    const late = begin();
    late.life.served();
    late.listen('late');
    await close(late.res);
    expect([late.calls, late.drain.size]).toEqual([['late'], 0]);
  });
});
