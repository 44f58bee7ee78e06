import { readdir, readlink } from 'node:fs/promises';
import { waitUntil } from '../wait-until.ts';
import type { ManagedProcess } from './start-process.ts';

/** The `nodeArgs` of a process whose memory is asked for. */
export const TELLS_MEMORY: readonly string[] = ['--import', './test/harness/processes/tell-memory.mjs'];

/**
 * What a process still holds after its garbage was collected, in bytes: heap and buffers. Its resident memory would also
 * tell when the collector saw fit to run. The process was started with TELLS_MEMORY.
 */
export async function liveBytes({ name, lines, kill }: ManagedProcess): Promise<number> {
  const from = lines.length;
  kill('SIGUSR2');
  const told = () => lines.slice(from).find((line) => line.startsWith('{"liveBytes":'));
  return Number(JSON.parse(await waitUntil(told, { what: `${name} to tell its memory` })).liveBytes);
}

/** How many sockets a process has open; undefined where there is no /proc. */
export async function openSockets({ pid }: ManagedProcess): Promise<number | undefined> {
  const folder = `/proc/${pid}/fd`;
  const links = await readdir(folder).catch(() => undefined);
  // One that is closed meanwhile is not there any more.
  const targets = links?.map((link) => readlink(`${folder}/${link}`).catch(() => ''));
  return targets && (await Promise.all(targets)).filter((target) => target.startsWith('socket:')).length;
}
