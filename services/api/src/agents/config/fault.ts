import { holdsSecret } from './literal-secret.ts';

/** Where something is in the file, as zod tells it: keys and indexes from the top. */
export type Path = readonly PropertyKey[];

/** Something wrong, found before it is known on which line. `at: 'key'` when the key itself is at fault. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  readonly at?: 'key';
}

/** Something wrong, with its place. Lines and columns count from 1; absent when the file could not be read at all. */
export interface Fault {
  readonly line?: number;
  readonly column?: number;
  /** Such as `agents.support.tools[0].server`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** Thrown with every fault found, so that one start tells them all. Never holds a value from the file but names and ids. */
export class AgentsConfigError extends Error {
  readonly faults: readonly Fault[];

  constructor(file: string, faults: readonly Fault[]) {
    const lines = faults.map((fault) => `  - ${lineOf(file, fault)}`);
    super(`The agents configuration is not usable:\n${lines.join('\n')}`);
    this.name = 'AgentsConfigError';
    this.faults = faults;
  }
}

/** `file:line:column: path: message`, which editors and terminals know how to open. */
export function lineOf(file: string, { line, column, path, message }: Fault): string {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  return path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
}

/** A path as people write it. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? keyText(part) : `${text}.${keyText(part)}`;
  }, '');
}

/** A key may be anything that someone typed: what would break a line of the log, or should not be in it, is left out. */
function keyText(key: PropertyKey): string {
  const text = String(key);
  return /^[\u0021-\u007e]{1,100}$/.test(text) && !holdsSecret(text) ? text : '(…)';
}
