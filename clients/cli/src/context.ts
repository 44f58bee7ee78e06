import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { readable } from '@parley/core/domain/readable';
import type { Command } from 'commander';
import type { CliEnv } from './env.ts';
import { usageError } from './exit-code.ts';

/** The parts of its process that a command may use. */
export interface CliContext {
  readonly env: CliEnv;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  /** Aborted by the first Ctrl+C and by SIGTERM. */
  readonly signal: AbortSignal;
  /** What a person types to start this program again, quoted for the shell. */
  readonly calledAs: string;
  /** The call of this program that works in every folder. */
  readonly calledAnywhere: string;
  setExitCode(code: number): void;
}

/** Registers one command with the program. */
export type RegisterCommand = (program: Command, context: CliContext) => void;

/** The options that every command has. */
export interface GlobalOptions {
  readonly json?: boolean;
  readonly url?: string;
  readonly tokenFile?: string;
}

/** Reads a text file. Throws a usage error that names the file. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw usageError(`${path} cannot be read: ${(cause as NodeJS.ErrnoException).code ?? 'unknown error'}.`);
  }
}

/** Reads standard input to its end. */
export async function readStdin({ stdin }: CliContext): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

/** True when the command prints JSON. */
export function isJson(command: Command): boolean {
  return command.optsWithGlobals<GlobalOptions>().json === true;
}

/** Writes one line to standard output. */
export function print({ stdout }: CliContext, text: string): void {
  stdout.write(`${text}\n`);
}

/** Makes untrusted text of several lines safe for a terminal. A carriage return could overwrite earlier text of its line. */
export function shownText(text: string): string {
  return readable(text.replaceAll(/\r\n?/g, '\n'));
}

/** Prints untrusted text: unchanged into a pipe, but without control characters on a terminal. */
export function printForeign(context: CliContext, text: string): void {
  print(context, context.stdout.isTTY === true ? shownText(text) : text);
}

/** Prints a value as one line of JSON. */
export function printJson(context: CliContext, value: unknown): void {
  printForeign(context, JSON.stringify(value));
}

type Style = Parameters<typeof styleText>[0];

/** Styles a text for standard output, unless it is piped or the person refuses colours. */
export function styled({ env, stdout }: CliContext, style: Style, text: string): string {
  return stdout.isTTY === true && !env.refusesColour ? styleText(style, text) : text;
}
