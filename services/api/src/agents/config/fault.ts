import { holdsSecret } from './literal-secret.ts';

/** A place in the file, as zod reports it: keys and indexes from the top. */
export type Path = readonly PropertyKey[];

/** A fault without its line. `at: 'key'` when the key itself is wrong. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  readonly at?: 'key';
}

/** A fault with its place. Lines and columns count from 1. They are absent when the file could not be read. */
export interface ConfigFault {
  readonly line?: number;
  readonly column?: number;
  /** Such as `agents.support.tools[0].server`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/**
 * Thrown with all faults, so that one start reports all of them. Contains no values of the file except names and ids.
 */
export class AgentsConfigError extends Error {
  readonly faults: readonly ConfigFault[];

  constructor(file: string, faults: readonly ConfigFault[]) {
    const lines = faults.map((fault) => `  - ${lineOf(file, fault)}`);
    super(`The agents configuration is not usable:\n${lines.join('\n')}`);
    this.name = 'AgentsConfigError';
    this.faults = faults;
  }
}

/** `file:line:column: path: message`, a format that editors and terminals can open. */
export function lineOf(file: string, { line, column, path, message }: ConfigFault): string {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  return path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
}

/** Formats a path, such as `agents.support.tools[0].server`. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? keyText(part) : `${text}.${keyText(part)}`;
  }, '');
}

/** The key; or `(…)` if it could break a log line or may be a secret, because a key in the file can be any text. */
function keyText(key: PropertyKey): string {
  const text = String(key);
  return /^[\u0021-\u007e]{1,100}$/.test(text) && !holdsSecret(text) ? text : '(…)';
}
