import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The resident memory of a process, in bytes. */
export async function rssOf(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout.trim()) * 1_024;
}
