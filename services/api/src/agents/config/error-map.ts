/**
 * Describes the faults of the configuration's schema in sentences that never repeat a value. Their lines are found in
 * `yaml.ts`.
 */

import { z } from 'zod';
import type { Finding } from './fault.ts';
import { nearest } from './nearest.ts';

type RawIssue = z.core.$ZodRawIssue;
type SchemaIssue = z.core.$ZodIssue;

const SECRET_KEY = /key$|secret|token|password|authorization|credential/i;

/** Zod's error map: describes a schema's fault in a sentence, without repeating the value. */
export function sentenceOf(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return sentenceOfType(issue.expected, issue.input);
    case 'invalid_value':
      return oneOf(issue.input, issue.values);
    case 'invalid_union':
      return sentenceOfVariant(issue);
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'unrecognized_keys': {
      const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
      return issue.keys.map((key) => sentenceOfKey(key, known)).join('\n');
    }
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? 'must not be empty'
        : `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${issue.origin === 'string' ? ' characters' : ''}`;
    default:
      return undefined;
  }
}

/** The findings in one issue. Zod reports all unknown keys of a place in one issue; its message has a line for each. */
export function findingsOf(issue: SchemaIssue): Finding[] {
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split('\n');
    return issue.keys.map((key, index) => ({
      path: [...issue.path, key],
      message: messages[index] ?? 'is not a known key',
      at: 'key',
    }));
  }
  const { path, message } = issue;
  return issue.code === 'invalid_key' ? [{ path, message, at: 'key' }] : [{ path, message }];
}

/** `; did you mean …?`, or an empty text. */
export function hint(word: string, candidates: readonly string[]): string {
  const meant = nearest(word, candidates);
  return meant === undefined ? '' : `; did you mean \`${meant}\`?`;
}

function sentenceOfType(expected: string, input: unknown): string {
  if (input === undefined) return 'is required';
  if (input === null) return 'is empty; give it a value or leave the key out';
  switch (expected) {
    case 'string':
      return typeof input === 'object' ? 'must be text' : 'must be text; put it in quotes';
    case 'int':
      return 'must be a whole number, without quotes';
    case 'number':
      return 'must be a number, without quotes';
    case 'boolean':
      return 'must be true or false, without quotes';
    case 'array':
      return 'must be a list: `[a, b]`, or lines that begin with `- `';
    default:
      return 'must be a map: lines of `key: value`, indented below it';
  }
}

function sentenceOfVariant(issue: Extract<RawIssue, { code: 'invalid_union' }>): string | undefined {
  const { input, discriminator, options } = issue as RawIssue & {
    discriminator?: string;
    options?: readonly z.core.util.Primitive[];
  };
  if (discriminator === undefined || options === undefined) return undefined;
  return oneOf((input as Record<string, unknown>)[discriminator], options);
}

function oneOf(input: unknown, values: readonly z.core.util.Primitive[]): string {
  const names = values.map(String);
  const list = names.map((name) => `\`${name}\``).join(', ');
  if (input === undefined) return `is required; one of ${list}`;
  return `must be one of ${list}${typeof input === 'string' ? hint(input, names) : ''}`;
}

function sentenceOfKey(key: string, known: readonly string[]): string {
  if (key === '<<') return 'is a merge key, which this file does not support; write the keys instead';
  const meant = knownSecretKey(key, known);
  if (meant !== undefined) {
    return `is not a key, because this file must not contain secrets; write \`${meant}\`, with the name of the environment variable that holds it`;
  }
  const near = hint(key, known);
  return `is not a known key${near === '' ? `; known keys are ${known.map((name) => `\`${name}\``).join(', ')}` : near}`;
}

/** A person may write a secret itself under a wrong key. Returns the similar key that expects the name of a variable. */
function knownSecretKey(key: string, known: readonly string[]): string | undefined {
  const named = known.filter((name) => /Env$/.test(name));
  // The key is a misspelled name of a variable's key, so the ordinary hint is better.
  if (/env$/i.test(key)) return undefined;
  const exact =
    nearest(`${key}Env`, named) ?? (/^headers?$/i.test(key) ? nearest('headersFromEnv', named) : undefined);
  return exact ?? (SECRET_KEY.test(key) ? named[0] : undefined);
}
