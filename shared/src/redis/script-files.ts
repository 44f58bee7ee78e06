import { readFileSync } from 'node:fs';

/** Scripts do not change while a process runs. Most pieces are parts of many scripts. */
const read = new Map<string, string>();

/**
 * Reads the text of a script. `name` is its path below `redis/`, without `.lua`. A bundle replaces this file by one that
 * contains all scripts. Throws when there is no such script.
 */
export function readScriptFile(name: string): string {
  const text = read.get(name) ?? readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8');
  read.set(name, text);
  return text;
}
