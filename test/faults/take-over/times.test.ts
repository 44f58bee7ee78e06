import { UNOWNED } from '@parley/shared/domain/runs/run';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { prove } from '../../harness/load/size.ts';
import { judge } from '../../harness/run-points/final.ts';
import { converse, newTalk, type Talk } from '../../harness/run-points/person.ts';
import { openRunSite, type RunSite } from '../../harness/run-points/site.ts';
import { DEFAULTS } from '../../harness/site/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const PODS = 2;
const CONVERSATIONS = 4;
/** How long a pod of a quiet machine takes from a message to the question of its turn, at most, in ms. */
const QUIET_MS = 1_000;

let site: RunSite;
/** Times at which a conversation's run had a working owner, on this process's clock. */
const owned = new Map<string, { readonly owner: string; readonly at: number }[]>();

beforeAll(async () => {
  site = await openRunSite({
    pods: PODS,
    env: DEFAULTS,
    // A starting pod uses all CPU of a small machine and would distort the times measured here.
    replaces: false,
    hooks: {
      onTerm(name, _term, owner) {
        if (owner === UNOWNED) return;
        owned.set(name, [...(owned.get(name) ?? []), { owner, at: performance.now() }]);
      },
    },
  });
});
afterAll(() => site?.stop());

/** How often longer than a quiet machine this one takes for a turn without a fault, 1 at least. */
async function measureSlowness(name: string): Promise<number> {
  const talk = await newTalk(site, name);
  const startedAt = performance.now();
  let tookMs = 0;
  const onQuestion = async () => {
    tookMs = performance.now() - startedAt;
  };
  await converse(site, talk, { onQuestion });
  return Math.max(1, tookMs / QUIET_MS);
}

// The bound is a promise of its own, measured on what Redis records, beside turns without a fault: after a kill two rounds of
// the worker of two seconds each, and a second in which the new owner reads the turn and claims it; after SIGTERM less than one
// round, since the pod tells the others.
it.each([
  ['SIGKILL', 5_000],
  ['SIGTERM', 2_000],
] as const)(
  'after %s every run of the pod has another owner within %d ms, with nothing set',
  async (signal, withinMs) => {
    if (site.pods().length < PODS) await site.start();
    const open = new AbortController();
    const isOpen = new Promise<void>((resolve) => open.signal.addEventListener('abort', () => resolve()));
    const talks: Talk[] = [];
    let waiting = 0;
    const talking = Array.from({ length: CONVERSATIONS }, async (_, at) => {
      const talk = await newTalk(site, `${signal}-${at}`);
      talks.push(talk);
      const onQuestion = () => {
        waiting += 1;
        return isOpen;
      };
      await converse(site, talk, { onQuestion });
    });
    await waitUntil(() => waiting === CONVERSATIONS, { what: 'all conversations to wait' });
    const [pod] = site.pods().filter(({ podName }) => ownedBy(talks, podName).length > 0);
    const lost = ownedBy(talks, pod?.podName ?? '');
    expect(lost.length).toBeGreaterThan(0);
    const before = await measureSlowness(`before-${signal}`);
    const endedAt = performance.now();
    site.end(pod?.podName ?? '', signal);
    const again = ({ name }: Talk) => owned.get(name)?.find(({ at }) => at > endedAt);
    await waitUntil(() => lost.every(again), { what: 'other owners' });
    const slowness = Math.max(before, await measureSlowness(`after-${signal}`));
    const tookMs = lost.map((talk) => Math.round((again(talk)?.at ?? Number.NaN) - endedAt));
    open.abort();
    await Promise.all(talking);
    const { ok, text } = await judge(site, talks);
    prove(
      `From ${signal} to another owner, with nothing set, and no pod starting`,
      `${tookMs.join(', ')} ms, ${slowness.toFixed(1)} times a quiet machine\n${text}`,
    );
    expect(ok, text).toBe(true);
    expect(Math.max(...tookMs)).toBeLessThan(withinMs * slowness);
  },
);

function ownedBy(talks: readonly Talk[], podName: string): readonly Talk[] {
  return talks.filter(({ name }) => site.ownerOf(name) === podName);
}
