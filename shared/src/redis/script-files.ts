import { readFileSync } from 'node:fs';

/**
 * Reads the text of a script. `name` is its path below `redis/`, without `.lua`. A bundle replaces this file by one that
 * contains all scripts. Throws when there is no such script.
 */
export function readScriptFile(name: string): string {
  return readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8');
}
