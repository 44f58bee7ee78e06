import { isRecord } from '@parley/core/domain/plain-record';
import type { Question } from '@parley/sdk';
import { fieldsOfList, pagesOf } from '@parley/sdk/elicit';
import type { Command } from 'commander';
import { userOf } from '../connection.ts';
import { type CliContext, readStdin, readText } from '../context.ts';
import { usageError } from '../exit-code.ts';
import { type AskingOptions, askAndPrint, withAskingOptions } from '../waiting.ts';

interface ElicitFlags extends AskingOptions {
  readonly user?: string;
  readonly message?: string;
}

/** `parley elicit`: asks a question given as JSON, or only its form, from a file or from standard input. */
export function registerElicit(program: Command, context: CliContext): void {
  const command = program
    .command('elicit')
    .description('ask a question that is described in JSON, wait, and print the answer as JSON')
    .argument(
      '[file]',
      'a question as in POST /v1/elicitations, a form schema, or fields; - for standard input',
      '-',
    )
    .option('--user <id>', 'the person who is asked, if the file does not say')
    .option('--message <text>', 'what the person reads, if the file does not say');
  withAskingOptions(command).action(async (file: string, flags: ElicitFlags) => {
    const text = file === '-' ? await readStdin(context) : readText(file);
    const question = questionOf(text, flags, () => userOf(command, context, flags.user));
    const show = (content: unknown) => JSON.stringify(content ?? {});
    await askAndPrint({ command, context, question, options: flags, show });
  });
}

/** Parses a question from JSON. The server checks everything else. */
export function questionOf(
  text: string,
  { message }: Pick<ElicitFlags, 'message'>,
  defaultUser: () => string,
): Question {
  const given = parsed(text);
  const isSchema = given.type === 'object' && given.properties !== undefined;
  const body: Record<string, unknown> = isSchema ? { requestedSchema: given } : withListedFields(given);
  const question = {
    ...(message !== undefined && { message }),
    mode: body.url === undefined ? 'form' : 'url',
    ...body,
  };
  if (!('message' in question)) throw usageError('The question has no message: give --message.');
  return {
    userId: typeof body.userId === 'string' ? body.userId : defaultUser(),
    ...question,
  } as unknown as Question;
}

/** Converts `fields`, the list form that agents use, to the schema. */
function withListedFields({ fields, ...question }: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(fields)) return fields === undefined ? question : { ...question, fields };
  const [page] = pagesOf({ kind: 'form', message: 'Fields', fields: fieldsOfList(fields) }) ?? [];
  return { ...question, requestedSchema: page?.schema };
}

function parsed(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw usageError('The question is not JSON.');
  }
  if (!isRecord(value)) throw usageError('The question must be a JSON object.');
  return value;
}
