import { readFileSync, writeFileSync } from 'node:fs';
import type { Machine } from './machine.ts';

/** What test files cost when they were measured last. `npm test -- --record` writes it. */
export interface Costs {
  /** How much slower than the reference the machine was. */
  readonly pace: number;
  /** Processor seconds of the checks and of the runner itself. */
  readonly runner: number;
  /** For each test file: processor seconds of all that it started, and seconds that passed. */
  readonly files: Readonly<Record<string, readonly [processor: number, wall: number]>>;
}

const FILE = new URL('../costs.json', import.meta.url);
/** Both cores of a machine are busy for this part of a run; the rest is waiting. */
const BUSY = 0.85;
/** The cost that a file is given which no run has measured yet. */
const UNKNOWN: readonly [number, number] = [2, 5];

export function readCosts(): Costs {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Costs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { pace: 1, runner: 0, files: {} };
  }
}

/** Writes a file a line, so that a change shows what became more expensive. */
export function writeCosts({ pace, runner, files }: Costs): void {
  const round = (seconds: number) => Math.round(seconds * 10) / 10;
  const lines = Object.entries(files)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([file, [processor, wall]]) => `    ${JSON.stringify(file)}: [${round(processor)}, ${round(wall)}]`);
  const text = `{\n  "pace": ${round(pace)},\n  "runner": ${round(runner)},\n  "files": {\n${lines.join(',\n')}\n  }\n}\n`;
  writeFileSync(FILE, text);
}

export function costOf({ files }: Costs, file: string): readonly [processor: number, wall: number] {
  return files[file] ?? UNKNOWN;
}

/** Cores that a file takes on average; undefined when nobody knows. */
export function shareOf({ files }: Costs, file: string): number | undefined {
  const cost = files[file];
  return cost && cost[0] / Math.max(cost[1], 0.1);
}

/** How many seconds these files will take on a machine: their processor time on all cores, or the longest of them. */
export function estimate(costs: Costs, files: readonly string[], machine: Machine): number {
  const all = files.map((file) => costOf(costs, file));
  const processor = all.reduce((sum, [each]) => sum + each, 0);
  return secondsOn(machine, costs, processor, Math.max(0, ...all.map(([, wall]) => wall)));
}

/** How many seconds the whole run will take on a machine, its checks included. */
export function estimateAll(costs: Costs, machine: Machine): number {
  const files = Object.keys(costs.files);
  return estimate(costs, files, machine) + secondsOn(machine, costs, costs.runner, 0);
}

function secondsOn({ cores, pace }: Machine, costs: Costs, processor: number, longest: number): number {
  return (pace / costs.pace) * Math.max(processor / (cores * BUSY), longest);
}
