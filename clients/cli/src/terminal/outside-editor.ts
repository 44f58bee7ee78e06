import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shellWord } from '../called-as.ts';

/**
 * Edits a text in the program that the person has named, as Git starts it. Resolves with the text as it was saved; with the
 * text unchanged when the program fails or the signal is aborted, which ends it.
 */
export async function editOutside(program: string, text: string, signal: AbortSignal): Promise<string> {
  // Only its owner may read the folder.
  const folder = mkdtempSync(join(tmpdir(), 'parley-answer-'));
  try {
    const file = join(folder, 'answer.txt');
    writeFileSync(file, text);
    const giveBack = takeInterrupts();
    const child = spawn(`${program} ${shellWord(file)}`, { shell: true, stdio: 'inherit' });
    const stop = () => child.kill();
    signal.addEventListener('abort', stop, { once: true });
    const isSaved = await new Promise<boolean>((resolve) => {
      child.once('error', () => resolve(false));
      child.once('exit', (code) => resolve(code === 0));
    });
    signal.removeEventListener('abort', stop);
    giveBack();
    return isSaved ? readFileSync(file, 'utf8') : text;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Ctrl+C is a key of the editor meanwhile, although the terminal sends it as a signal to this process, too. */
function takeInterrupts(): () => void {
  const others = process.rawListeners('SIGINT');
  const ignore = () => undefined;
  process.removeAllListeners('SIGINT').on('SIGINT', ignore);
  return () => {
    process.off('SIGINT', ignore);
    for (const listener of others) process.on('SIGINT', listener as () => void);
  };
}
