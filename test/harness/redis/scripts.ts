import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../../shared/src/redis/', import.meta.url);

/** The text of a Lua file of the product, by its path below `shared/src/redis`, without the ending. */
export function luaFile(name: string): string {
  return readFileSync(new URL(`${name}.lua`, FOLDER), 'utf8');
}

const FILES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.lua'))
  .map((name) => name.slice(0, -'.lua'.length))
  .toSorted();

/** Lua files that others require, and that are no scripts themselves. */
export const PIECES = FILES.filter((name) => luaFile(name).startsWith('-- Piece: '));
/** Every script that the product runs. */
export const SCRIPTS = FILES.filter((name) => !PIECES.includes(name));
