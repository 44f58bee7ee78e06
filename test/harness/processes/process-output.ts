import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

export type JsonLine = Record<string, unknown>;
export type Exit = { code: number | null; signal: NodeJS.Signals | null };

export type ProcessOutput = {
  /** Every line of stdout, growing. */
  lines: string[];
  /** Every line of stderr, growing. */
  stderr: string[];
  /** The first line of JSON on stdout, from now on, that satisfies `wanted`. */
  nextJson(wanted: (line: JsonLine) => boolean): Promise<JsonLine>;
  /** Resolves when the process has ended and its output is in. A command that cannot be run ends with code 127. */
  exited: Promise<Exit>;
};

/** How long output may still come from a grandchild that holds the pipe open. */
const LAST_WORDS_MS = 1_000;

/** Collects what `child` says on stdout and stderr (both pipes). */
export function collectOutput(child: ChildProcess): ProcessOutput {
  const lines: string[] = [];
  const stderr: string[] = [];
  const listeners = new Set<(line: JsonLine) => void>();
  const read = (from: Readable | null, onLine: (line: string) => void) => {
    if (from) createInterface({ input: from, crlfDelay: Number.POSITIVE_INFINITY }).on('line', onLine);
  };
  read(child.stderr, (line) => stderr.push(line));
  read(child.stdout, (line) => {
    lines.push(line);
    const json = parse(line);
    if (json) for (const listener of listeners) listener(json);
  });
  return {
    lines,
    stderr,
    exited: ending(child, stderr),
    nextJson: (wanted) =>
      new Promise((resolve) => {
        const listener = (line: JsonLine) => {
          if (!wanted(line)) return;
          listeners.delete(listener);
          resolve(line);
        };
        listeners.add(listener);
      }),
  };
}

async function ending(child: ChildProcess, stderr: string[]): Promise<Exit> {
  const closed = once(child, 'close').catch(() => undefined);
  try {
    const [code, signal] = await once(child, 'exit');
    const cutOff = new AbortController();
    await Promise.race([
      closed,
      sleep(LAST_WORDS_MS, undefined, { signal: cutOff.signal }).catch(() => undefined),
    ]);
    cutOff.abort();
    return { code, signal };
  } catch (error) {
    stderr.push(String(error));
    return { code: 127, signal: null };
  }
}

function parse(line: string): JsonLine | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as JsonLine;
  } catch {
    return undefined;
  }
}
