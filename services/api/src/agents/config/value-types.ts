import { isAbsolute } from 'node:path';
import { faultOfProse } from '@parley/core/domain/text';
import { z } from 'zod';

/**
 * Value types that several entries of the configuration share. No message repeats a value, because it may be a secret.
 */

const URL_LENGTH_MAX = 2048;
// Common names of query parameters that contain a secret.
const SECRET_PARAMETER = /^(?:.*[_-])?(?:api-?key|key|token|secret|password|sig|signature)$/i;

/** The id of an entry. Ids become parts of paths and keys, so `.` and `..` are not valid. */
export const Id = z
  .string()
  .regex(/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/, 'an id is 1 to 64 of A-Z a-z 0-9 . _ - (and not . or ..)');

/**
 * The name of an environment variable. Capitals only, because nearly every secret written by mistake has other letters.
 */
const EnvName = z.string().superRefine((text, context) => {
  if (/^[A-Z_][A-Z0-9_]{0,127}$/.test(text)) return;
  context.addIssue(
    /^\$/.test(text)
      ? 'write the name of the variable alone, without `$` and braces'
      : 'must be the name of an environment variable, in capitals such as TRACKER_TOKEN; this file must not contain the secret itself',
  );
});

/** The name of an environment variable. `about` describes the variable's value. */
export const envName = (about: string) => EnvName.describe(about);

/** Text for people or models, with at most `charactersMax` characters. */
export const prose = (charactersMax: number, about: string) =>
  z
    .string()
    .superRefine((text, context) => {
      const fault = text.trim() === '' ? 'must not be empty' : faultOfProse(text, charactersMax);
      if (fault !== undefined) context.addIssue(fault);
    })
    .describe(about);

/** A name for people: one short line. */
export const title = (about: string) =>
  prose(80, about).refine((text) => !/[\n\t]/.test(text), 'must be one line');

/** A name from another program: visible ASCII without spaces. */
export const token = (lengthMax: number, about: string) =>
  z
    .string()
    .regex(/^[\u0021-\u007e]+$/, 'must be visible ASCII characters without blanks')
    .max(lengthMax)
    .describe(about);

/** The path of a file or folder. */
export const path = (about: string) =>
  z.string().max(1_000).refine(isAbsolute, 'must be an absolute path').describe(about);

/** True or false, with a default. */
export const flag = (fallback: boolean, about: string) => z.boolean().default(fallback).describe(about);

/** A whole number within bounds, with a default. */
export const count = (
  [fallback, min, max]: readonly [fallback: number, min: number, max: number],
  about: string,
) => z.int().min(min).max(max).default(fallback).describe(`${about} From ${min} to ${max}.`);

/** How long an agent that is not of this deployment may work on one task, in seconds. */
export const TaskTimeout = count(
  [600, 1, 86_400],
  'How long the agent may work on one task. Waits for people do not count.',
);

/** The URL of a service, https or http. The rules of production are checked with the environment. */
export const url = (about: string) =>
  z
    .string()
    .superRefine((text, context) => {
      const fault = faultOfServiceUrl(text);
      if (fault !== undefined) context.addIssue(fault);
    })
    .describe(about);

/** The name of an HTTP header (RFC 9110). */
export const HeaderName = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'must be the name of an HTTP header')
  .refine(
    (name) => !OWN_HEADERS.has(name.toLowerCase()),
    'is a header that the protocol itself sets; it cannot be given here',
  );
const OWN_HEADERS = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'host',
  'mcp-protocol-version',
  'mcp-session-id',
  'transfer-encoding',
  'upgrade',
]);

function faultOfServiceUrl(text: string): string | undefined {
  if (/\$\{?[A-Za-z_]/.test(text)) {
    return 'variables are not replaced in this file; write the URL itself';
  }
  if (text.length > URL_LENGTH_MAX) return `must be at most ${URL_LENGTH_MAX} characters`;
  if (/[^\u0021-\u007e]/u.test(text)) return 'must be ASCII without blanks; percent-encode the rest';
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) {
    return 'must be an absolute URL such as https://example.com/path';
  }
  const parsed = new URL(text);
  if (parsed.username !== '' || parsed.password !== '') {
    return 'must not carry a user name or password; this file must not contain secrets';
  }
  if (parsed.hash !== '') return 'must not have a fragment (`#…`)';
  return [...parsed.searchParams.keys()].some((name) => SECRET_PARAMETER.test(name))
    ? 'seems to carry a secret in its query; this file must not contain secrets, send them in a header'
    : undefined;
}
