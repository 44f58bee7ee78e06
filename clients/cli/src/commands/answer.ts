/**
 * The command `parley answer`: it chooses between the terminal and flags, and reports the result. Asking in the terminal is in
 * `answering.ts`.
 */

import { isTerminal as isEnded } from '@parley/core/domain/elicitations/status';
import { isRecord } from '@parley/core/domain/plain-record';
import { type Answer, createClient, type Elicitation, type ParleyClient } from '@parley/sdk';
import { type Command, Option } from 'commander';
import { answerInTerminal } from '../answering.ts';
import { connectionOf } from '../connection.ts';
import { type CliContext, isJson, print, printJson, readStdin, readText } from '../context.ts';
import { decideInTerminal, EXIT_OF_APPROVAL } from '../deciding.ts';
import { CliError, EXIT, exitCodeOfStatus, usageError } from '../exit-code.ts';
import { createScreen } from '../terminal/handler.ts';
import { terminalOf } from '../terminal-of.ts';

interface AnswerOptions {
  readonly action?: 'accept' | 'decline' | 'cancel';
  readonly content?: string;
  readonly plain?: boolean;
}

/** `parley answer`: a person answers one question in the terminal, or a script answers it with flags. */
export function registerAnswer(program: Command, context: CliContext): void {
  const command = program
    .command('answer')
    .description(
      'answer a question, or decide on a call, in the terminal; the oldest open question without an id',
    )
    .argument('[id]', 'el_… a question, or ap_… an approval')
    .addOption(
      new Option('--action <action>', 'answer without prompts').choices(['accept', 'decline', 'cancel']),
    )
    .option('--content <file>', 'the content as JSON for --action accept; - for standard input')
    .option('--plain', 'lines instead of a screen that is drawn over: for screen readers')
    .action(async (id: string | undefined, options: AnswerOptions) => {
      const connection = connectionOf(command, context, 'person');
      if (id?.startsWith('ap_')) return decide(command, context, { ...connection, id, options });
      const client = createClient(connection);
      const elicitation = id === undefined ? await oldestOf(client) : await client.get(id);
      const ended = isEnded(elicitation.status)
        ? elicitation
        : await answer(client, elicitation, options, context);
      report(command, context, ended);
    });
}

async function decide(
  command: Command,
  context: CliContext,
  {
    id,
    options,
    ...connection
  }: ReturnType<typeof connectionOf> & {
    readonly id: string;
    readonly options: AnswerOptions;
  },
): Promise<void> {
  const streams = terminalOf(context);
  if (options.action !== undefined || streams === undefined)
    throw usageError('A call is approved or denied in a terminal, without --action.');
  const screen = createScreen(streams, options.plain === true, context.env);
  const { approvalId, status } = await decideInTerminal(
    { ...connection, screen, signal: context.signal },
    id,
  );
  if (isJson(command)) printJson(context, { approvalId, status });
  else print(context, status);
  context.setExitCode(EXIT_OF_APPROVAL[status]);
}

async function answer(
  client: ParleyClient,
  elicitation: Elicitation,
  options: AnswerOptions,
  context: CliContext,
): Promise<Elicitation> {
  if (options.action !== undefined) {
    return client.answer(elicitation.elicitationId, await answerOfFlags(options, context));
  }
  const streams = terminalOf(context);
  if (streams === undefined) throw usageError('There is no terminal: answer with --action and --content.');
  const screen = createScreen(streams, options.plain === true, context.env);
  return answerInTerminal({ client, screen, signal: context.signal }, elicitation);
}

/** Content comes only from a file or a pipe, because a value on the command line would be in the shell's history. */
async function answerOfFlags({ action, content }: AnswerOptions, context: CliContext): Promise<Answer> {
  if (action !== 'accept') return { action: action ?? 'cancel' };
  if (content === undefined) return { action };
  const text = content === '-' ? await readStdin(context) : readText(content);
  const value = parsed(text);
  if (!isRecord(value)) throw usageError('The content must be a JSON object with one entry for each field.');
  return {
    action,
    content: value as Readonly<Record<string, string | number | boolean | readonly string[]>>,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usageError('The content is not JSON.');
  }
}

async function oldestOf(client: ParleyClient): Promise<Elicitation> {
  let oldest: Elicitation | undefined;
  for await (const elicitation of client.list({ status: ['pending', 'opened'] })) oldest = elicitation;
  if (oldest === undefined) throw new CliError(EXIT.failed, 'nothing_open', 'No question is open.');
  return oldest;
}

function report(command: Command, context: CliContext, { elicitationId, status }: Elicitation): void {
  if (isJson(command)) printJson(context, { elicitationId, status });
  else print(context, status);
  context.setExitCode(isEnded(status) ? exitCodeOfStatus(status) : EXIT.open);
}
