import { afterAll, beforeAll, expect, it } from 'vitest';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { judge } from '../../harness/run-points/final.ts';
import { converse, newTalk } from '../../harness/run-points/person.ts';
import { LONG } from '../../harness/run-points/script.ts';
import { openRunSite, type RunSite } from '../../harness/run-points/site.ts';
import { clientsNamed } from '../../harness/site/redis-monitor.ts';
import { untilReady } from '../../harness/site/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

// What the engine does about each of these faults at each step is shown in process. Here one turn streams and another waits
// for its person while real connections break.

let site: RunSite;
/** Called once text of a conversation goes out. */
const onText = new Map<string, () => void>();

beforeAll(async () => {
  site = await openRunSite({
    pods: 2,
    replaces: false,
    hooks: {
      onCommand(name, _pod, { type }) {
        if (type === 'publish') onText.get(name)?.();
        return 'pass';
      },
    },
  });
});
afterAll(() => site?.stop());

const kill = async (name: string) => {
  for (const id of await clientsNamed(site.redisUrl, name))
    await redisCommand(site.redisUrl, 'CLIENT', 'KILL', 'ID', id);
};

/** No pod reaches Redis until each has noticed. */
async function takeRedisAway(): Promise<void> {
  const pods = site.pods();
  for (const { gate } of pods) gate.stall(true);
  try {
    const isAway = async ({ url }: { readonly url: string }) => (await fetch(`${url}/readyz`)).status === 503;
    await waitUntil(async () => (await Promise.all(pods.map(isAway))).every(Boolean), {
      what: 'all pods to miss Redis',
      timeoutMs: 60_000,
    });
  } finally {
    for (const { gate } of pods) gate.stall(false);
  }
}

it.each([
  ['no pod reaches Redis for a while', takeRedisAway],
  ['the connections for commands are cut', () => kill('parley-commands')],
  ['the subscribers are cut', () => kill('parley-subscriber')],
  ['the scripts are flushed', () => redisCommand(site.redisUrl, 'SCRIPT', 'FLUSH')],
])('a turn that streams and one that waits for its person end whole when %s', async (fault, cause) => {
  const name = fault.replaceAll(' ', '-');
  const [streaming, waiting] = [await newTalk(site, `${LONG}${name}`), await newTalk(site, name)];
  let isAsked = false;
  let answer = () => {};
  const waited = converse(site, waiting, {
    onQuestion() {
      isAsked = true;
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
  });
  await waitUntil(() => isAsked, { what: 'the question' });
  const text = new Promise<void>((resolve) => onText.set(streaming.name, resolve));
  const streamed = converse(site, streaming);
  await text;
  await cause();
  answer();
  await Promise.all([waited, streamed]);
  await Promise.all(site.pods().map(untilReady));
  const { ok, text: report, counts } = await judge(site, [streaming, waiting]);
  expect(ok, report).toBe(true);
  expect(counts.conversations).toBe(2);
});
