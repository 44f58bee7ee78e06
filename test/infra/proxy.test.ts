import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkStream } from '../../clients/cli/src/doctor/check-stream.ts';
import { findProgram } from '../../infra/check/programs.ts';
import { listenOn } from '../harness/free-port.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { type Edit, notRun } from './planted-tree.ts';
import { type ProxyName, type ProxyRig, programs, startProxy } from './proxy-rig.ts';

const haproxy = 'infra/proxy/haproxy.cfg';
const nginx = 'infra/proxy/nginx.conf';

const post = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { method: 'POST', body: '{}', headers });
const requestsOf = ({ pods }: ProxyRig): ProxyRig['pods'][number]['seen'] => pods.flatMap(({ seen }) => seen);

interface Behaviour {
  readonly check: (proxy: ProxyRig) => Promise<void>;
  /** Edits that the check must notice. */
  readonly defects: readonly Edit[];
}

/** What both proxies must do. */
const behaviours: Readonly<Record<string, Behaviour>> = {
  'spreads the calls of one caller over all pods': {
    defects: [
      [haproxy, 'balance roundrobin', 'balance source'],
      [nginx, 'upstream api {', 'upstream api {\n    ip_hash;'],
    ],
    check: async ({ url }) => {
      const names = new Set<string>();
      for (let call = 0; call < 12; call += 1) names.add(await (await post(`${url}/any`)).text());
      expect([...names].sort()).toEqual(['api-1', 'api-2', 'api-3']);
    },
  },
  'passes each event on while the stream is open': {
    // nginx passes small events on even when it buffers, so infra/check reads the setting.
    defects: [],
    check: async ({ url, pods }) => {
      const response = await fetch(`${url}/v1/streams/sr_1/events`, { signal: AbortSignal.timeout(60_000) });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      expect((await reader?.read())?.value).toBe('data: first\n\n');
      const [stream] = pods.flatMap((pod) => pod.streams);
      stream?.write('data: second\n\n');
      expect((await reader?.read())?.value).toBe('data: second\n\n');
      stream?.end();
      await reader?.cancel();
    },
  },
  'lets a long poll be silent for longer than a stream may be': {
    defects: [
      [haproxy, 'set-timeout server 1h', 'set-timeout server 300ms'],
      [nginx, 'proxy_read_timeout 1h', 'proxy_read_timeout 300ms'],
    ],
    check: async ({ url }) => {
      expect((await fetch(`${url}/v1/elicitations/el_1/wait?timeoutSeconds=2`)).status).toBe(200);
    },
  },
  'gives up on a silent answer, says so, and does not send it to another pod': {
    defects: [
      [haproxy, 'status 504 content-type application/problem+json', 'status 504 content-type text/plain'],
      [nginx, 'default_type application/problem+json', 'default_type text/plain'],
    ],
    check: async (proxy) => {
      const response = await post(`${proxy.url}/v1/elicitations/el_1/response`);
      expect(requestsOf(proxy)).toHaveLength(1);
      expect(response.status).toBe(504);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(response.headers.get('retry-after')).toBe('1');
      expect(await response.json()).toMatchObject({ status: 504, code: 'unavailable' });
    },
  },
  'never sends a POST twice when the pod drops it': {
    defects: [
      [haproxy, 'retry-on conn-failure', 'retry-on all-retryable-errors'],
      [nginx, 'error timeout;', 'error timeout non_idempotent;'],
    ],
    check: async (proxy) => {
      // HAProxy closes a connection that has served calls before, instead of answering 502 on it.
      const outcome = await post(`${proxy.url}/drop`).then(
        (response) => response.status,
        () => 'closed',
      );
      expect([502, 'closed']).toContain(outcome);
      expect(requestsOf(proxy)).toHaveLength(1);
    },
  },
  'sends the pods the address it saw, not the one the caller sent': {
    defects: [
      [haproxy, 'X-Forwarded-For %[src]', 'X-Real-IP %[src]'],
      [nginx, 'X-Forwarded-For $remote_addr', 'X-Real-IP $remote_addr'],
    ],
    check: async (proxy) => {
      await post(`${proxy.url}/any`, { 'x-forwarded-for': '203.0.113.9' });
      expect(requestsOf(proxy).map(({ from }) => from)).toEqual(['127.0.0.1']);
    },
  },
  'logs the path and not the query': {
    defects: [
      [haproxy, '%[var(txn.path)]', '%HU'],
      [nginx, '$request_method $uri', '$request'],
    ],
    check: async ({ url, log }) => {
      await fetch(`${url}/auth/callback?code=canary-4711`);
      await waitUntil(() => log().includes('/auth/callback'), { what: 'the call to be logged' });
      expect(log()).not.toContain('canary-4711');
    },
  },
};

describe.each(programs)('the shipped configuration of %s', (program) => {
  let proxy: ProxyRig;
  beforeAll(async () => {
    if (findProgram(program) !== undefined) proxy = await startProxy(program);
  });
  afterAll(() => proxy?.stop());
  beforeEach((context) => {
    if (findProgram(program) === undefined)
      notRun(context, { status: 'not run', why: `${program} is not installed`, available: true });
    for (const pod of proxy.pods) pod.seen.length = 0;
  });

  it.each(Object.entries(behaviours))('%s', (_title, { check }) => check(proxy));

  it('loses no call when a pod has stopped', async () => {
    const [gone] = proxy.pods;
    if (gone === undefined) throw new Error('there is no pod');
    gone.server.closeAllConnections();
    await new Promise((resolve) => gone.server.close(resolve));
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(`${proxy.url}/any`)));
    await listenOn(gone.server, gone.port);
    expect(answers.map((response) => response.status)).toEqual(Array.from({ length: 12 }, () => 200));
  });

  it('has streams that `parley doctor` finds wanting when the proxy cuts or compresses them', async () => {
    // The shipped nginx lets a silent stream be; HAProxy cuts it, after seconds in this test.
    const isCut = program === 'haproxy';
    const zipping = isCut
      ? proxy
      : await startProxy(program, [[nginx, 'gzip off', 'gzip on; gzip_types text/event-stream']]);
    const times = { firstMs: 60_000, heartbeatMs: 60_000 };
    const found = await checkStream({ baseUrl: zipping.url, token: 'key' }, times);
    if (!isCut) await zipping.stop();
    expect(found).toMatchObject({ code: isCut ? 'stream_cut' : 'stream_compressed', verdict: 'wrong' });
  });

  // Open-source nginx cannot ask pods whether they are ready.
  if (program === 'haproxy')
    it('sends no calls to a pod that is not ready, and keeps its streams open', () =>
      leavesOutUnreadyPod(proxy));

  it.for(plantedDefects(program))('%s: seen failing with the planted %s', async ([title, planted, edit]) => {
    const broken = await startProxy(program, [edit]);
    for (const pod of broken.pods) pod.seen.length = 0;
    const outcome = await behaviours[title]?.check(broken).then(
      () => 'passed',
      () => 'failed',
    );
    await broken.stop();
    expect(outcome, `${title} with ${planted}`).toBe('failed');
  });
});

function plantedDefects(program: ProxyName): (readonly [title: string, planted: string, edit: Edit])[] {
  return Object.entries(behaviours).flatMap(([title, { defects }]) =>
    defects
      .filter(([file]) => (file === haproxy) === (program === 'haproxy'))
      .map((edit) => [title, edit[2].trim(), edit] as const),
  );
}

async function leavesOutUnreadyPod({ url, pods }: ProxyRig): Promise<void> {
  const response = await fetch(`${url}/v1/streams/sr_2/events`);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  await reader?.read();
  const pod = pods.find((each) => each.seen.length > 0);
  if (pod === undefined) throw new Error('no pod has the stream');
  const heartbeat = setInterval(() => pod.streams.at(-1)?.write(': hb\n\n'), 200);
  pod.ready = false;
  const answeredBy = (): Promise<string[]> =>
    Promise.all([1, 2, 3, 4].map(async () => (await post(`${url}/any`)).text()));
  await waitUntil(async () => !(await answeredBy()).includes(pod.name), { what: 'the pod to be left out' });
  expect((await reader?.read())?.done).toBe(false);
  clearInterval(heartbeat);
  pod.ready = true;
  await reader?.cancel();
}
