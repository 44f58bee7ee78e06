import { createHash } from 'node:crypto';

const LENGTH_MAX = 64;
const MARK_LENGTH = 8;
const JOINT = '__';
const MARKED = /_[0-9a-f]{8}$/;

/**
 * What a model calls a server's tool: of `[A-Za-z0-9_-]` and at most 64 long, as all providers take it. A name that
 * had to be changed for that ends in a mark made from the original, so two never become one, on any pod.
 */
export function modelToolName(serverId: string, toolName: string): string {
  const [server, tool] = [plain(serverId), plain(toolName)];
  const name = `${server}${JOINT}${tool}`;
  const isFaithful =
    server === serverId && tool === toolName && !isAmbiguous(server, tool) && !MARKED.test(name);
  if (isFaithful && name.length <= LENGTH_MAX) return name;
  const mark = createHash('sha256')
    .update(JSON.stringify([serverId, toolName]))
    .digest('hex')
    .slice(0, MARK_LENGTH);
  return `${name.slice(0, LENGTH_MAX - MARK_LENGTH - 1)}_${mark}`;
}

/** Whether the two could be read as another two: `a_` and `b` as `a` and `_b`. */
function isAmbiguous(server: string, tool: string): boolean {
  return `${server}_`.includes(JOINT) || tool.startsWith('_');
}

function plain(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
}
