import type { QuestionBase } from '@parley/sdk';
import { type Command, InvalidArgumentError } from 'commander';
import { userOf } from '../connection.ts';
import type { CliContext } from '../context.ts';
import { usageError } from '../exit-code.ts';
import { ANSWER_FIELD, type AnswerFlags, schemaOfFlags } from '../question-of-flags.ts';
import { type AskingOptions, askAndPrint, withAskingOptions } from '../waiting.ts';

type AskFlags = AnswerFlags &
  AskingOptions & {
    readonly user?: string;
    readonly title?: string;
    readonly description?: string;
    readonly stream?: string;
    readonly conversation?: string;
    readonly timeout?: number;
    readonly sensitive?: boolean;
    readonly tag?: readonly string[];
    readonly open?: string;
  };

/** `parley ask`: one question with one field, from flags. */
export function registerAsk(program: Command, context: CliContext): void {
  const command = program
    .command('ask')
    .description('ask a person one thing, wait, and print the answer')
    .argument('<message>', 'what the person reads')
    .option('--user <id>', 'the person who is asked')
    .option('--choice <value>', 'a value to choose; repeat it', collect)
    .option('--multi', 'several choices may be taken')
    .option('--number', 'the answer is a number')
    .option('--integer', 'the answer is a whole number')
    .option('--confirm', 'the answer is yes or no')
    .option('--date', 'the answer is a date')
    .option('--min <n>', 'the least number, length or count', numberOf)
    .option('--max <n>', 'the greatest number, length or count', numberOf)
    .option('--open <url>', 'ask the person to open a page instead')
    .option('--title <text>')
    .option('--description <text>')
    .option('--sensitive', 'keep the answer from models')
    .option('--tag <text>', 'a text by which operators find the question; repeat it', collect)
    .option('--stream <id>', 'the stream request that carries the question')
    .option('--conversation <id>')
    .option('--timeout <seconds>', 'when the question expires (default 600)', numberOf);
  withAskingOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  ${context.calledAs} ask 'Which environment?' --user ada --choice staging --choice production
  [ "$(${context.calledAs} ask 'Delete 14 files?' --user ada --confirm)" = true ] && rm -r old

The exit code is 0 for any answer, "false" included.`,
    )
    .action((message: string, flags: AskFlags) => ask(command, context, message, flags));
}

async function ask(command: Command, context: CliContext, message: string, flags: AskFlags): Promise<void> {
  const base: QuestionBase = {
    userId: userOf(command, context, flags.user),
    message,
    ...(flags.title !== undefined && { title: flags.title }),
    ...(flags.description !== undefined && { description: flags.description }),
    ...(flags.stream !== undefined && { streamRequestId: flags.stream }),
    ...(flags.conversation !== undefined && { conversationId: flags.conversation }),
    ...(flags.timeout !== undefined && { timeoutSeconds: flags.timeout }),
    ...(flags.sensitive === true && { sensitive: true }),
    ...(flags.tag !== undefined && { tags: flags.tag }),
    context: { trigger: 'terminal' },
  };
  if (flags.open !== undefined) {
    if (flags.choice ?? flags.number ?? flags.integer ?? flags.confirm ?? flags.date)
      throw usageError('--open asks the person to open a page: no flag for an answer goes with it.');
    const question = { ...base, mode: 'url' as const, url: flags.open };
    await askAndPrint({ command, context, question, options: flags, show: () => 'accepted' });
    return;
  }
  const requestedSchema = schemaOfFlags(flags, flags.title ?? 'Answer');
  const question = { ...base, mode: 'form' as const, requestedSchema };
  const show = (content: Readonly<Record<string, unknown>> = {}) => textOfValue(content[ANSWER_FIELD]);
  await askAndPrint({ command, context, question, options: flags, show });
}

/** Formats a value for scripts: without quotes, and a list with one entry per line. */
function textOfValue(value: unknown): string {
  return Array.isArray(value) ? value.join('\n') : String(value);
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function numberOf(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.');
  return value;
}
