/**
 * The command `parley secret`: it stores secrets and passes them to programs. Where secrets are stored is decided in
 * `secrets/`.
 */

import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { type CliContext, isJson, print, printJson, readStdin } from '../context.ts';
import { CliError, EXIT, usageError } from '../exit-code.ts';
import { openSecretStore } from '../secrets/open-store.ts';
import { referenceOf, SECRET_REFERENCE } from '../secrets/store.ts';
import { createScreen } from '../terminal/handler.ts';
import { LEFT } from '../terminal/screen.ts';
import { terminalOf } from '../terminal-of.ts';

/** `parley secret`: stores secrets in the keyring and passes them to programs by reference. */
export function registerSecret(program: Command, context: CliContext): void {
  const secret = program
    .command('secret')
    .description('keep secrets in the keyring, and hand them to programs');

  const set = secret
    .command('set')
    .description('keep a secret, typed without being shown, or from standard input; prints its reference')
    .argument('<name>')
    .option('--plain', 'lines instead of a screen that is drawn over: for screen readers')
    .action(async (name: string, { plain }: { readonly plain?: boolean }) => {
      const reference = referenceOf(checked(name));
      const value = await readSecret(context, plain === true);
      const store = await openSecretStore(context.env);
      await store.set(name, value);
      if (isJson(set)) printJson(context, { name, reference, place: store.place });
      else print(context, reference);
    });

  secret
    .command('get')
    .description('print a secret into a pipe; --reveal prints it to a terminal')
    .argument('<name>')
    .option('--reveal', 'print it although other people may see the screen')
    .action(async (name: string, { reveal }: { readonly reveal?: boolean }) => {
      if (context.stdout.isTTY === true && reveal !== true)
        throw usageError(
          `The secret would be on the screen: give --reveal, or use ${context.calledAs} secret run.`,
        );
      context.stdout.write(await valueOfName(context, checked(name)));
    });

  const remove = secret
    .command('rm')
    .description('remove a secret')
    .argument('<name>')
    .action(async (name: string) => {
      const removed = await (await openSecretStore(context.env)).remove(checked(name));
      if (!removed) throw unknownSecret(name);
      if (isJson(remove)) printJson(context, { name, removed });
    });

  secret
    .command('run')
    .description(
      'run a program; references such as secret:github in its environment are replaced by the secrets',
    )
    .argument('<program>')
    .argument('[args...]')
    .addHelpText(
      'after',
      `\nExample:\n  GITHUB_TOKEN=secret:github ${context.calledAs} secret run -- gh issue list`,
    )
    .action(async (name: string, args: string[]) => {
      context.setExitCode(await runWith(context, name, args));
    });
}

function checked(name: string): string {
  if (!SECRET_REFERENCE.test(referenceOf(name)))
    throw usageError('A name has 1 to 128 letters, digits, dots, dashes and underscores.');
  return name;
}

function unknownSecret(name: string): CliError {
  return new CliError(EXIT.failed, 'unknown_secret', `There is no secret ${name}.`);
}

async function valueOfName(context: CliContext, name: string): Promise<string> {
  const value = await (await openSecretStore(context.env)).get(name);
  if (value === undefined) throw unknownSecret(name);
  return value;
}

/** Reads a secret: from the terminal without echo, or from a pipe without its last line break. */
async function readSecret(context: CliContext, isPlain: boolean): Promise<string> {
  const streams = terminalOf(context);
  if (streams === undefined) {
    const piped = (await readStdin(context)).replace(/\r?\n$/, '');
    if (piped === '') throw usageError('Standard input has no secret.');
    return piped;
  }
  const validate = (text: string) => (text === '' ? 'is required' : undefined);
  const prompt = { label: 'Secret', description: 'It is not shown.', validate, takesLines: true };
  const typed = await createScreen(streams, isPlain, context.env).hidden(prompt, context.signal);
  if (typed === LEFT) throw new CliError(EXIT.cancelled, 'cancelled', 'No secret was kept.');
  return typed;
}

/** Runs a program with secrets in its environment, which other users cannot read, and never in its arguments. */
async function runWith(context: CliContext, name: string, args: readonly string[]): Promise<number> {
  const env: Record<string, string> = {};
  for (const [variable, value] of Object.entries(context.env.all)) {
    const secret = value === undefined ? undefined : SECRET_REFERENCE.exec(value)?.[1];
    if (value !== undefined)
      env[variable] = secret === undefined ? value : await valueOfName(context, secret);
  }
  return new Promise((resolve, reject) => {
    const child = spawn(name, args, { env, stdio: 'inherit' });
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(new CliError(EXIT.failed, 'not_started', `${name} cannot be started: ${error.code}.`)),
    );
    child.once('exit', (code) => resolve(code ?? EXIT.failed));
  });
}
