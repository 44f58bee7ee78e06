import { expect, it, onTestFinished } from 'vitest';
import { openGate } from './gate.ts';

/** A gate of a machine with two cores, at which files ask by their names; each takes the cores that its name ends with. */
async function newGate() {
  let wanting = 0;
  const assigned: [pid: number, what: string][] = [];
  const gate = await openGate({
    machine: { cores: 2, pace: 1 },
    tree: {
      assign: (pid, what) => void assigned.push([pid, what]),
      wanting: () => wanting,
      use: () => ({ seconds: new Map(), peakBytes: 0, runQueue: 0 }),
      stop: () => {},
    },
    shareOf: (file) => Number(file.split(' ')[1]),
  });
  onTestFinished(gate.close);
  // Of this process and its parent nobody doubts that they are alive.
  const pids = [process.pid, process.ppid, 1];
  const opened: string[] = [];
  const post = (path: string, file: string, at: number) =>
    fetch(`${gate.url}/${path}`, { method: 'POST', body: JSON.stringify({ pid: pids[at], file }) });
  return {
    gate,
    assigned,
    opened,
    setWanting(processes: number) {
      wanting = processes;
    },
    ask: (file: string, at: number) => post('begin', file, at).then(() => void opened.push(file)),
    end: (file: string, at: number) => post('end', file, at),
  };
}

it('lets files in while their shares fit, in the order in which they came', async () => {
  const { ask, end, opened, assigned, gate } = await newGate();
  await ask('first 1.5', 0);
  const second = ask('second 1.5', 1);
  // It would fit, but the second one came before.
  const third = ask('third 0.1', 2);
  await expect.poll(() => assigned).toEqual([[process.pid, 'first 1.5']]);
  await end('first 1.5', 0);
  await Promise.all([second, third]);
  expect(opened[0]).toBe('first 1.5');
  expect(assigned.map(([, what]) => what)).toEqual(['first 1.5', 'second 1.5', 'third 0.1']);
  expect([...gate.walls().keys()]).toEqual(['first 1.5']);
});

it('lets no file in while many processes want a core, unless nothing runs', async () => {
  const { ask, setWanting, assigned } = await newGate();
  setWanting(5);
  await ask('first 0.1', 0);
  const second = ask('second 0.1', 1);
  expect(assigned).toHaveLength(1);
  setWanting(4);
  await second;
});

it('takes a file for ended whose process asks for another one', async () => {
  const { ask, gate } = await newGate();
  await ask('first 2', 0);
  await ask('second 2', 0);
  expect([...gate.walls().keys()]).toEqual(['first 2']);
});
