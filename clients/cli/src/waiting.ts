import { createClient, type Outcome, type Question } from '@parley/sdk';
import type { Command } from 'commander';
import { connectionOf } from './connection.ts';
import { type CliContext, isJson, print, printForeign, printJson } from './context.ts';
import { exitCodeOfStatus } from './exit-code.ts';

/** The options of commands that ask. */
export interface AskingOptions {
  readonly wait: boolean;
  readonly idempotencyKey?: string;
}

/** Adds the options that all commands have that ask. */
export function withAskingOptions(command: Command): Command {
  return command
    .option('--idempotency-key <key>', 'a key of your own: the same call again asks only once')
    .option('--no-wait', 'print the id at once and do not wait for the answer');
}

interface AskRequest {
  readonly command: Command;
  readonly context: CliContext;
  readonly question: Question;
  readonly options: AskingOptions;
  /** Formats the content of an accepted answer for printing without --json. */
  readonly show: (content: Readonly<Record<string, unknown>> | undefined) => string;
}

/** Asks a question, waits, prints the outcome and sets the exit code. Ctrl+C withdraws the question. */
export async function askAndPrint({ command, context, question, options, show }: AskRequest): Promise<void> {
  const client = createClient(connectionOf(command, context, 'service'));
  const { signal } = context;
  const key = options.idempotencyKey;
  const asked = await client.start(question, { signal, ...(key !== undefined && { idempotencyKey: key }) });
  const { elicitationId, expiresAt } = asked.elicitation;
  if (!options.wait) {
    if (isJson(command)) printJson(context, asked.elicitation);
    else print(context, elicitationId);
    return;
  }
  if (context.stderr.isTTY === true)
    context.stderr.write(`Asked ${elicitationId}; waiting until ${expiresAt}. Ctrl+C withdraws it.\n`);
  try {
    printOutcome({ command, context, show }, await asked.outcome);
  } catch (error) {
    if (signal.aborted) await client.withdraw(elicitationId, 'asker_interrupted').catch(() => undefined);
    throw error;
  }
}

type Printing = Pick<AskRequest, 'command' | 'context' | 'show'>;

/** Prints an outcome and sets its exit code. */
function printOutcome({ command, context, show }: Printing, outcome: Outcome<unknown>): void {
  const content = outcome.status === 'accepted' ? outcome.content : undefined;
  if (isJson(command)) {
    const { elicitationId } = outcome.elicitation;
    const reason = outcome.status === 'withdrawn' ? outcome.reason : undefined;
    printJson(context, { elicitationId, status: outcome.status, content, reason });
  } else if (outcome.status === 'accepted') {
    printForeign(context, show(content as Readonly<Record<string, unknown>> | undefined));
  } else {
    context.stderr.write(`parley: ${outcome.status}\n`);
  }
  context.setExitCode(exitCodeOfStatus(outcome.status));
}
