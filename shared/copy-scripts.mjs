import { copyFileSync, readdirSync } from 'node:fs';

/** Copies the Lua scripts, which the compiler ignores, to the compiled code that loads them. */
const from = new URL('./src/redis/', import.meta.url);
const to = new URL('./dist/redis/', import.meta.url);
for (const name of readdirSync(from, { recursive: true })) {
  if (name.endsWith('.lua')) copyFileSync(new URL(name, from), new URL(name, to));
}
