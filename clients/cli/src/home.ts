import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CliEnv } from './env.ts';
import { usageError } from './exit-code.ts';

const PRIVATE = 0o700;

/**
 * The folder for the command's own files, created if absent. Only its owner may read a folder that the command created. An
 * existing folder that PARLEY_HOME names keeps its permissions, because it may also serve others.
 */
export function homeFolder({ home, configHome, userHome }: CliEnv): string {
  const base = configHome ?? (userHome === undefined ? undefined : join(userHome, '.config'));
  const folder = home ?? (base === undefined ? undefined : join(base, 'parley'));
  if (folder === undefined) throw usageError('Set PARLEY_HOME to a folder for files of parley.');
  mkdirSync(folder, { recursive: true, mode: PRIVATE });
  if (home === undefined) chmodSync(folder, PRIVATE);
  return folder;
}
