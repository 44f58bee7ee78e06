import { expect, it } from 'vitest';
import { simulate } from '../../../bench/simulation.ts';
import { capacityFor, type Load } from '../../../clients/cli/src/capacity/model.ts';
import { runCli } from '../../harness/cli/run.ts';

const NOTHING: Load = { asks: 0, open: 0, retention: 86_400, streams: 0, turns: 0, waitingTurns: 0 };

/** Both ways at most a fifth apart. */
function expectNear(one: number, other: number): void {
  expect(Math.max(one / other, other / one)).toBeLessThan(1.2);
}

it.each<[string, Partial<Load>]>([
  ['2 pods of 1,000 streams', { open: 100_000, asks: 100, streams: 2_000 }],
  ['2 pods of 4,500 streams', { open: 100_000, streams: 9_000 }],
  ['5 pods of 7,000 streams', { open: 100_000, streams: 35_000 }],
  ['3 pods of 6,667 streams', { open: 1e6, asks: 100, streams: 20_000, turns: 5, waitingTurns: 10_000 }],
  ['a million streams on 101 pods', { open: 2e6, asks: 2_000, streams: 1e6, turns: 500, retention: 3_600 }],
])('the model says what a simulation steps through: %s', (_size, more) => {
  const load = { ...NOTHING, ...more };
  const capacity = capacityFor(load);
  const simulated = simulate(load, capacity);
  expectNear(simulated.fullestMaster, capacity.fullestMaster);
  expectNear(simulated.readersBackSeconds, capacity.readersBackSeconds);
  expect(simulated.fullestUse).toBeLessThan(1.1);
  // The limit of a node, and what piled up in that time.
  expect(simulated.failoverSeconds).toBeLessThan(15);
  expect(simulate(load, capacity)).toEqual(simulated);
});

it('a pod with more readers than the others can refuse is seen by both', () => {
  const capacity = { ...capacityFor({ ...NOTHING, streams: 10_000 }), pods: 2, socketsOfPod: 60_000 };
  expect(simulate({ ...NOTHING, open: 1_000 }, capacity).readersBackSeconds).toBe(Number.POSITIVE_INFINITY);
});

it('parley capacity prints a table, or the same as JSON', async () => {
  const args = ['capacity', '--asks', '100', '--open', '1e6'];
  const table = await runCli(args);
  expect([table.code, table.err]).toEqual([0, '']);
  expect(table.out).toMatch(/^Redis {23}a Cluster of 2 masters$/m);
  const { capacity, load } = JSON.parse((await runCli(['--json', ...args])).out);
  expect(load).toEqual({ ...NOTHING, asks: 100, open: 1e6 });
  expect(capacity).toEqual(capacityFor(load));
});

it.each(['many', '-1', '1e400', '', '0x', 'NaN'])('parley capacity refuses --asks %j', async (asks) => {
  const { code, out, err } = await runCli(['capacity', `--asks=${asks}`]);
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain('a number from 0 to 1e12');
});

it('parley capacity says where one installation ends', async () => {
  const { out } = await runCli(['capacity', '--asks', '1e7']);
  expect(out).toContain('divide the tenants');
});
