import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CliEnv } from './env.ts';
import { usageError } from './exit-code.ts';

/** The folder of the command's own files, which only its owner may read. Created when it is absent. */
export function homeFolder({ home, configHome, userHome }: CliEnv): string {
  const base = configHome ?? (userHome === undefined ? undefined : join(userHome, '.config'));
  const folder = home ?? (base === undefined ? undefined : join(base, 'parley'));
  if (folder === undefined) throw usageError('Set PARLEY_HOME to a folder for files of parley.');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}
