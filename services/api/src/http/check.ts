import { ParleyError } from '@parley/core/domain/errors';
import { addIssue, type Issue, shownName } from '@parley/core/domain/issue';
import type { z } from 'zod';

const MESSAGE_MAX = 500;

function clipped(message: string): string {
  return message.length > MESSAGE_MAX ? `${message.slice(0, MESSAGE_MAX).toWellFormed()} …` : message;
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** The fault of a value, in words for its sender. Undefined if the schema or its library has a good message. */
const inPlainWords: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'is required'
        : `must be ${TYPE_WORDS[issue.expected] ?? issue.expected}`;
    case 'unrecognized_keys':
      return `holds what is not known here: ${issue.keys.map(shownName).join(', ')}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `must be at least ${issue.minimum}${unitOf(issue.origin)}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${unitOf(issue.origin)}`;
    default:
      return undefined;
  }
};

function unitOf(origin: string): string {
  return origin === 'string' ? ' characters' : '';
}

/** Checks a value against its schema. Throws `invalid_request` with the faults, up to as many as a person reads. */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
): z.output<Schema> {
  const parsed = schema.safeParse(value, { error: inPlainWords });
  if (parsed.success) return parsed.data;
  const issues: Issue[] = [];
  // Path and message may contain input, so their size is limited: a small invalid body must not cause a huge reply.
  for (const { path, message } of parsed.error.issues) {
    addIssue(issues, path.map((part) => shownName(String(part))).join('.'), clipped(message));
  }
  throw new ParleyError('invalid_request', `The ${what} is not well formed; see errors.`, { issues });
}
