import { mayHoldSecret } from '@parley/shared/domain/secret-words';
import type { McpCredential, McpServerConfig } from './server-config.ts';

/** Removes the secrets that were sent to a server from its replies. */
export interface Scrub {
  text(text: string): string;
  /** Removes secrets from objects and lists, including keys. Returns the same value if it contains no secret. */
  value(value: unknown): unknown;
}

const REPLACEMENT = '[redacted]';
// Shorter values are not removed, because they occur in ordinary text.
const SECRET_LENGTH_MIN = 8;
const DEPTH_MAX = 100;

/**
 * Removes a server's secrets: the value of every header, with and without its scheme, and variables whose names suggest
 * a secret. Servers repeat requests in error messages, and a model must not read a token there.
 */
export function createScrub({ transport }: McpServerConfig, credential?: McpCredential): Scrub {
  const values =
    transport.type === 'http'
      ? [...Object.values(transport.headers ?? {}), ...Object.values(credential?.headers ?? {})]
      : Object.entries(transport.env ?? {}).flatMap(([name, value]) => (mayHoldSecret(name) ? [value] : []));
  return createScrubFor(values);
}

/** Removes these values, with and without their scheme. Values under eight characters stay: ordinary text has them. */
export function createScrubFor(values: readonly string[]): Scrub {
  // Longer secrets come first, because a secret may contain another.
  const secrets = [...new Set(values.flatMap(formsOf))].sort((a, b) => b.length - a.length);

  const text = (given: string) =>
    secrets.reduce((left, secret) => left.replaceAll(secret, REPLACEMENT), given);

  const hasSecret = (json: string | undefined) =>
    json !== undefined && secrets.some((secret) => json.includes(JSON.stringify(secret).slice(1, -1)));

  const clean = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > DEPTH_MAX) return REPLACEMENT;
    if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [text(key), clean(inner, depth + 1)]),
    );
  };

  return { text, value: (value) => (hasSecret(JSON.stringify(value)) ? clean(value, 0) : value) };
}

function formsOf(value: string): string[] {
  const [, afterScheme] = /^[A-Za-z][\w-]* +(\S.*)$/.exec(value) ?? [];
  return [value, ...(afterScheme === undefined ? [] : [afterScheme])].filter(
    ({ length }) => length >= SECRET_LENGTH_MIN,
  );
}
