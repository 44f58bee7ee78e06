import { execFile } from 'node:child_process';
import { readdir, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The resident memory of a process, in bytes. */
export async function residentBytes(pid: number): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout.trim()) * 1_024;
}

/** What a process holds of the machine; without /proc only its memory. */
export async function resourcesOf(pid: number): Promise<{ rssBytes: number; sockets?: number }> {
  const rssBytes = await residentBytes(pid);
  const folder = `/proc/${pid}/fd`;
  const links = await readdir(folder).catch(() => undefined);
  if (links === undefined) return { rssBytes };
  // One that is closed meanwhile is not there any more.
  const targets = await Promise.all(links.map((link) => readlink(`${folder}/${link}`).catch(() => '')));
  return { rssBytes, sockets: targets.filter((target) => target.startsWith('socket:')).length };
}
