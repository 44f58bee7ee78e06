import { readdir, readFile, readlink } from 'node:fs/promises';
import { waitUntil } from '../wait-until.ts';
import type { ManagedProcess } from './start-process.ts';

/** The `nodeArgs` of a process whose memory is asked for. */
export const REPORTS_MEMORY: readonly string[] = ['--import', './test/harness/processes/tell-memory.mjs'];

/**
 * Bytes of heap and buffers that a process holds after a garbage collection. Its resident memory would also depend on
 * when the collector ran. The process must be started with REPORTS_MEMORY.
 */
export async function liveBytes({ name, lines, kill }: ManagedProcess): Promise<number> {
  const from = lines.length;
  kill('SIGUSR2');
  const reported = () => lines.slice(from).find((line) => line.startsWith('{"liveBytes":'));
  return Number(JSON.parse(await waitUntil(reported, { what: `${name} to report its memory` })).liveBytes);
}

/** How many connections a process holds to a port, as the process sees them; undefined where there is no /proc. */
export async function connectionsTo({ pid }: ManagedProcess, port: number): Promise<number | undefined> {
  const folder = `/proc/${pid}/fd`;
  const links = await readdir(folder).catch(() => undefined);
  if (links === undefined) return undefined;
  // A file may be closed between the listing and this read.
  const targets = await Promise.all(links.map((link) => readlink(`${folder}/${link}`).catch(() => '')));
  const own = new Set(targets.map((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1]));
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8')),
  );
  const rows = tables.flatMap((table) => table.split('\n')).map((row) => row.trim().split(/\s+/));
  // The columns of man proc_pid_net: the remote address is the third, the inode the tenth, both ports in hexadecimal.
  return rows.filter(
    ([, , remote, , , , , , , inode]) =>
      own.has(inode ?? '') && Number.parseInt(remote?.split(':')[1] ?? '', 16) === port,
  ).length;
}
