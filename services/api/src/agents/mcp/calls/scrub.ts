import type { McpCredential, McpServerConfig } from '../server-config.ts';

/** Takes the secrets that were sent to a server out of what came back. */
export interface Scrub {
  text(text: string): string;
  /** Goes through objects and lists, keys included; gives the same value back when there is nothing to take out. */
  value(value: unknown): unknown;
}

const INSTEAD = '[redacted]';
// Shorter ones are found in ordinary text.
const SECRET_LENGTH_MIN = 8;
const SECRET_VARIABLE = /key|token|secret|pass|credential|auth|private|cookie|signature|dsn|url/i;
const DEPTH_MAX = 100;

/**
 * Knows a server's secrets: every header (all are credentials), alone and behind its scheme, and the variables whose
 * names sound like secrets. Servers repeat their requests in error messages; a model must not read a token there.
 */
export function createScrub({ transport }: McpServerConfig, credential?: McpCredential): Scrub {
  const values =
    transport.type === 'http'
      ? [...Object.values(transport.headers ?? {}), ...Object.values(credential?.headers ?? {})]
      : Object.entries(transport.env ?? {}).flatMap(([name, value]) =>
          SECRET_VARIABLE.test(name) ? [value] : [],
        );
  return createScrubOf(values);
}

/** Takes these values out, alone and behind their scheme. Those under eight characters stay: ordinary text holds them. */
export function createScrubOf(values: readonly string[]): Scrub {
  // The longest first: one may hold another.
  const secrets = [...new Set(values.flatMap(formsOf))].sort((a, b) => b.length - a.length);

  const text = (given: string) => secrets.reduce((left, secret) => left.replaceAll(secret, INSTEAD), given);

  const isDirty = (json: string | undefined) =>
    json !== undefined && secrets.some((secret) => json.includes(JSON.stringify(secret).slice(1, -1)));

  const clean = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > DEPTH_MAX) return INSTEAD;
    if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [text(key), clean(inner, depth + 1)]),
    );
  };

  return { text, value: (value) => (isDirty(JSON.stringify(value)) ? clean(value, 0) : value) };
}

function formsOf(value: string): string[] {
  const [, afterScheme] = /^[A-Za-z][\w-]* +(\S.*)$/.exec(value) ?? [];
  return [value, ...(afterScheme === undefined ? [] : [afterScheme])].filter(
    ({ length }) => length >= SECRET_LENGTH_MIN,
  );
}
