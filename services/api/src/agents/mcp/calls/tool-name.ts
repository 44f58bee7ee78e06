import { createHash } from 'node:crypto';

const LENGTH_MAX = 64;
const HASH_LENGTH = 8;
const SEPARATOR = '__';
const HASHED = /_[0-9a-f]{8}$/;

/**
 * The name of a server's tool for models. It consists of at most 64 characters of `[A-Za-z0-9_-]`, which all providers accept.
 * A name that had to be changed ends in a hash of the original, so that two tools never share a name. It is the same on every
 * pod.
 */
export function modelToolName(serverId: string, toolName: string): string {
  const [server, tool] = [plain(serverId), plain(toolName)];
  const name = `${server}${SEPARATOR}${tool}`;
  const isUnchanged =
    server === serverId && tool === toolName && !isAmbiguous(server, tool) && !HASHED.test(name);
  if (isUnchanged && name.length <= LENGTH_MAX) return name;
  const suffix = createHash('sha256')
    .update(JSON.stringify([serverId, toolName]))
    .digest('hex')
    .slice(0, HASH_LENGTH);
  return `${name.slice(0, LENGTH_MAX - HASH_LENGTH - 1)}_${suffix}`;
}

/** True if another pair of names would give the same text, as `a_` and `b` would with `a` and `_b`. */
function isAmbiguous(server: string, tool: string): boolean {
  return `${server}_`.includes(SEPARATOR) || tool.startsWith('_');
}

function plain(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
}
