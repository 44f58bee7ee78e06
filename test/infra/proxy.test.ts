import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listenOn } from '../harness/free-port.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { has, type ProxyRig, programs, startProxy } from './proxy-rig.ts';

const post = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { method: 'POST', body: '{}', headers });

describe.each(programs)('the shipped configuration of %s', (program) => {
  let proxy: ProxyRig;
  beforeAll(async () => {
    if (has(program)) proxy = await startProxy(program);
  });
  afterAll(async () => {
    if (has(program)) await proxy.stop();
  });
  beforeEach(({ skip }) => {
    if (!has(program)) skip(`not run: ${program} is not installed`);
    for (const pod of proxy.pods) pod.seen.length = 0;
  });

  it('spreads the calls of one caller over all pods', async () => {
    const names = new Set<string>();
    await waitUntil(async () => names.add(await (await post(`${proxy.url}/any`)).text()).size === 3, {
      what: 'every pod to be asked',
    });
    expect([...names].sort()).toEqual(['api-1', 'api-2', 'api-3']);
  });

  it('loses no call when a pod is gone', async () => {
    const [gone] = proxy.pods;
    if (gone === undefined) throw new Error('there is no pod');
    gone.server.closeAllConnections();
    await new Promise((resolve) => gone.server.close(resolve));
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(`${proxy.url}/any`)));
    await listenOn(gone.server, gone.port);
    expect(answers.map((response) => response.status)).toEqual(Array.from({ length: 12 }, () => 200));
  });

  it('passes each event on while the stream goes on', async () => {
    const response = await fetch(`${proxy.url}/v1/streams/sr_1/events`);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe('data: first\n\n');
    const [stream] = proxy.pods.flatMap((pod) => pod.streams);
    stream?.write('data: second\n\n');
    expect((await reader?.read())?.value).toBe('data: second\n\n');
    stream?.end();
    await reader?.cancel();
  });

  it('lets a long poll be silent for longer than a stream may be', async () => {
    const response = await fetch(`${proxy.url}/v1/elicitations/el_1/wait?timeoutSeconds=6`);
    expect(response.status).toBe(200);
  });

  it('gives up on a hung answer and does not send it to another pod', async () => {
    const response = await post(`${proxy.url}/v1/elicitations/el_1/response`);
    expect(response.status).toBe(504);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({ status: 504, code: 'unavailable' });
    expect(proxy.pods.flatMap((pod) => pod.seen)).toHaveLength(1);
  });

  it('never sends a POST twice when the pod drops it', async () => {
    // HAProxy closes a connection that has served calls before, instead of answering 502 on it.
    const outcome = await post(`${proxy.url}/drop`).then(
      (response) => response.status,
      () => 'closed',
    );
    expect([502, 'closed']).toContain(outcome);
    expect(proxy.pods.flatMap((pod) => pod.seen)).toHaveLength(1);
  });

  it('tells the pods the address it saw, not the one it was told', async () => {
    await post(`${proxy.url}/any`, { 'x-forwarded-for': '203.0.113.9' });
    expect(proxy.pods.flatMap((pod) => pod.seen.map(({ from }) => from))).toEqual(['127.0.0.1']);
  });

  it('logs the path and not the query', async () => {
    await fetch(`${proxy.url}/auth/callback?code=canary-4711`);
    await waitUntil(() => proxy.log().includes('/auth/callback'), { what: 'the call to be logged' });
    expect(proxy.log()).not.toContain('canary-4711');
  });

  // Open-source nginx cannot ask pods whether they are ready.
  if (program === 'haproxy')
    it('gives a pod that is not ready no calls, and leaves its streams alone', leavesOutPodsThatAreNotReady);

  async function leavesOutPodsThatAreNotReady(): Promise<void> {
    const response = await fetch(`${proxy.url}/v1/streams/sr_2/events`);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    await reader?.read();
    const pod = proxy.pods.find((each) => each.seen.length > 0);
    if (pod === undefined) throw new Error('no pod has the stream');
    const beat = setInterval(() => pod.streams.at(-1)?.write(': hb\n\n'), 200);
    pod.ready = false;
    await waitUntil(
      async () => {
        const names = await Promise.all(
          [1, 2, 3, 4].map(async () => (await post(`${proxy.url}/any`)).text()),
        );
        return !names.includes(pod.name);
      },
      { what: 'the pod to be left out' },
    );
    expect((await reader?.read())?.done).toBe(false);
    clearInterval(beat);
    pod.ready = true;
    await reader?.cancel();
  }
});
