import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shellWord } from '../called-as.ts';

/**
 * Edits a text in the person's editor. Resolves with the saved text when the editor has ended; with undefined when it fails, or
 * when the signal is aborted, which ends it.
 */
export async function editOutside(
  program: string,
  text: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  let folder: string | undefined;
  try {
    // `mkdtemp` creates a folder that only its owner may read.
    folder = mkdtempSync(join(tmpdir(), 'parley-answer-'));
    const file = join(folder, 'answer.txt');
    writeFileSync(file, text);
    const giveBack = takeInterrupts();
    // `exec` replaces the shell by the editor, which then gets the signal that ends it. `env` allows variables in front of the
    // command.
    const start = process.platform === 'win32' ? '' : 'exec env ';
    const child = spawn(`${start}${program} ${shellWord(file)}`, { shell: true, stdio: 'inherit' });
    const stop = () => child.kill();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const isSaved = await new Promise<boolean>((resolve) => {
      child.once('error', () => resolve(false));
      child.once('exit', (code) => resolve(code === 0));
    });
    signal.removeEventListener('abort', stop);
    giveBack();
    return isSaved ? readFileSync(file, 'utf8') : undefined;
  } catch {
    // The folder could not be written, or the editor removed the file.
    return undefined;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * While the editor runs, Ctrl+C is for the editor, but the terminal also sends the signal to this process, which ignores it.
 */
function takeInterrupts(): () => void {
  const others = process.rawListeners('SIGINT');
  const ignore = () => undefined;
  process.removeAllListeners('SIGINT').on('SIGINT', ignore);
  return () => {
    process.off('SIGINT', ignore);
    for (const listener of others) process.on('SIGINT', listener as () => void);
  };
}
