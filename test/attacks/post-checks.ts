import { describe, expect, it } from 'vitest';
import type { World } from './world.ts';

/** Post-checks of all attacks: the pods still run, and have logged no fault of their own. */
export function postChecks(world: () => World): void {
  describe('after the attacks', () => {
    it('no request failed unexpectedly, and nothing was written to stderr', () => {
      for (const { lines, stderr } of world().pods) {
        expect(lines.filter((line) => /"level":"(?:warn|error|fatal)"/.test(line))).toEqual([]);
        expect(stderr).toEqual([]);
      }
    });

    it('no reply was a 5xx, by the count of the pods', async () => {
      for (const url of world().metricsUrls) {
        const text = await (await fetch(url)).text();
        const statuses = [...text.matchAll(/^http_requests_total\{.*status="(\d+)".*\} (\d+)/gm)];
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
