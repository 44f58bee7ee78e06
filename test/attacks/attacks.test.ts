import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../harness/attacks/world.ts';
import { answerAttacks } from './cases/answers.ts';
import { askAttacks } from './cases/asks.ts';
import { bodyAttacks } from './cases/bodies.ts';
import { bombAttacks } from './cases/bombs.ts';
import { fuzzAttacks } from './cases/fuzz.ts';
import { injectionAttacks } from './cases/injection.ts';
import { keyAttacks } from './cases/keys.ts';
import { limitAttacks } from './cases/limits.ts';
import { newerAttacks } from './cases/newer.ts';
import { ownerAttacks } from './cases/owners.ts';
import { pollutionAttacks } from './cases/pollution.ts';
import { requestAttacks } from './cases/requests.ts';
import { schemaAttacks } from './cases/schemas.ts';
import { secretAttacks } from './cases/secrets.ts';
import { slowAttacks, slowPostChecks } from './cases/slow.ts';
import { tokenAttacks } from './cases/tokens.ts';
import { urlAttacks } from './cases/urls.ts';
import { webhookAttacks } from './cases/webhooks.ts';

// One world for all attacks: starting pods is what takes the time.
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

const attacks = [
  slowAttacks,
  ...[bodyAttacks, requestAttacks, schemaAttacks, answerAttacks, askAttacks, urlAttacks, webhookAttacks],
  ...[
    ownerAttacks,
    keyAttacks,
    newerAttacks,
    tokenAttacks,
    pollutionAttacks,
    injectionAttacks,
    bombAttacks,
    fuzzAttacks,
  ],
  ...[limitAttacks, slowPostChecks, postChecks],
  // Last, because it breaks a row on purpose.
  secretAttacks,
];
for (const attack of attacks) attack(() => world);

/** Checks after all attacks: the pods still run, and no pod logged a warning or an error. */
function postChecks(world: () => World): void {
  describe('after the attacks', () => {
    it('no request failed unexpectedly, and nothing was written to stderr', () => {
      for (const { lines, stderr } of world().pods) {
        const noticed = lines.filter((line) => /"level":"(?:warn|error|fatal)"/.test(line));
        // The world has an expired key on purpose, which a pod reports once, at its start.
        const [first, ...others] = noticed;
        expect(first).toContain('the key expired of acme has expired');
        expect(others, others.join('\n')).toEqual([]);
        expect(stderr, stderr.join('\n')).toEqual([]);
      }
    });

    it("no reply was a 5xx, according to the pods' metrics", async () => {
      for (const url of world().metricsUrls) {
        const text = await (await fetch(url)).text();
        const statuses = [...text.matchAll(/^parley_http_requests_total\{.*status="(\d+)".*\} (\d+)/gm)];
        expect(statuses.length).toBeGreaterThan(5);
        expect(statuses.filter(([, status]) => Number(status) >= 500).map(([line]) => line)).toEqual([]);
      }
    });

    it('the pods are ready', async () => {
      for (const pod of [0, 1] as const) {
        expect((await world().call({ path: '/readyz', pod })).json).toMatchObject({ status: 'ready' });
      }
    });
  });
}
