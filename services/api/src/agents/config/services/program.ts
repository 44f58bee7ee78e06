import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { envName } from '../value-types.ts';

/** A program on the same machine as each pod, which gets only the environment variables that are configured. */
export const PROGRAM = {
  command: z
    .string()
    .min(1)
    .max(1_000)
    .describe('Program to start: an absolute path, or a name when `env` contains `PATH`.'),
  args: z
    .array(z.string().max(10_000))
    .default([])
    .describe('Arguments of the program. Other users of the machine can read them.'),
  env: z
    .array(envName('Name of a variable.'), 'must be a list of names of environment variables')
    .default([])
    .describe(
      'Names of the environment variables that the process gets. It inherits no others, not even `PATH`; `PARLEY_PROGRAM` marks it and what it starts.',
    ),
};

/** Why a command cannot be used; undefined if it can. */
export function faultOfCommand({
  command,
  env,
}: {
  readonly command: string;
  readonly env: readonly string[];
}): string | undefined {
  if (isAbsolute(command)) return undefined;
  if (/[/\\]/.test(command))
    return 'is a relative path, which means another file in every folder; make it absolute';
  return env.includes('PATH')
    ? undefined
    : 'is a name to be found on the path; list `PATH` in `env`, or write an absolute path';
}
