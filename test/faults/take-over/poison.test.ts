import { afterAll, beforeAll, expect, it } from 'vitest';
import { judge } from '../../harness/run-points/final.ts';
import { converse, newTalk } from '../../harness/run-points/person.ts';
import { openRunSite, QUICK_ENV, type RunSite } from '../../harness/run-points/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const POISON = 'poison';
const DEATHS = 2;

let site: RunSite;
const killings: Promise<unknown>[] = [];

beforeAll(async () => {
  site = await openRunSite({
    pods: 1,
    // A starved pod that loses its turn would count as one that died of it.
    env: { ...QUICK_ENV, PARLEY_LEASE_MS: '10000', PARLEY_LIMIT_TURN_DEATHS: String(DEATHS) },
    hooks: {
      // Each pod dies of its first request to the model, whatever the turn is doing by then.
      onSaying({ name }) {
        if (name !== POISON) return undefined;
        const kill = () => site.end(site.ownerOf(POISON) ?? '', 'SIGKILL');
        killings.push(waitUntil(kill, { what: 'the owner of the turn to be killed' }));
        return { kind: 'hang' };
      },
    },
  });
});
afterAll(() => site?.stop());

it('a turn that kills its pods ends after a few of them, and those that follow serve others', async () => {
  const poisoned = await newTalk(site, POISON);
  await converse(site, poisoned);
  await Promise.all(killings);
  expect(killings).toHaveLength(DEATHS);
  const { url } = await site.pick();
  const reply = await fetch(`${url}/run/api/chat/${POISON}/timeline`, {
    headers: { authorization: poisoned.authorization },
  });
  expect(await reply.json()).toMatchObject({ runs: [{ status: 'failed', steps: [] }] });

  const innocent = await newTalk(site, 'innocent');
  await converse(site, innocent);
  const { ok, text } = await judge(site, [innocent]);
  expect(ok, text).toBe(true);
});
