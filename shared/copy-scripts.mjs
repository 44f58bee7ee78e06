import { copyFileSync, readdirSync } from 'node:fs';

/** The compiler leaves the Lua scripts behind; they belong beside the code that loads them. */
const from = new URL('./src/redis/', import.meta.url);
const to = new URL('./dist/redis/', import.meta.url);
for (const name of readdirSync(from, { recursive: true })) {
  if (name.endsWith('.lua')) copyFileSync(new URL(name, from), new URL(name, to));
}
