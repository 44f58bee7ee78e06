import { readdir, readlink } from 'node:fs/promises';
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

/** How many sockets a process has open; undefined where there is no /proc. */
export async function openSockets({ pid }: ManagedProcess): Promise<number | undefined> {
  const folder = `/proc/${pid}/fd`;
  const links = await readdir(folder).catch(() => undefined);
  // One that is closed meanwhile is not there any more.
  const targets = links?.map((link) => readlink(`${folder}/${link}`).catch(() => ''));
  return targets && (await Promise.all(targets)).filter((target) => target.startsWith('socket:')).length;
}
