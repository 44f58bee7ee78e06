import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';

/** A structured logger: one line of JSON per call, fields first, words second. */
export type Log = Logger;

export interface LogOptions {
  readonly service: string;
  readonly level: LevelWithSilent;
  readonly pod: string;
}

const CENSORED = '[redacted]';
const DEPTH_MAX = 4;

/** Names whose values are never written. Callers do not log them either; this is the second net. */
const SECRET_NAMES = [
  ...['message', 'title', 'description', 'requestedSchema', 'url', 'webhookUrl', 'onUnavailable'],
  ...['answer', 'content', 'settlement', 'responseId', 'body', 'messages', 'traceparent'],
  ...['token', 'accessToken', 'access_token', 'refreshToken', 'refresh_token', 'idToken', 'id_token'],
  ...['authorization', 'Authorization', 'cookie', 'headers', 'apiKey', 'api_key', 'code_verifier'],
  ...['password', 'secret', 'clientSecret', 'client_secret', 'credential', 'credentials'],
];
const SECRETS: ReadonlySet<string> = new Set(SECRET_NAMES);

/** What libraries write into the texts of their errors: addresses, tokens, arguments of commands, bits of JSON. */
const LEAKS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:https?|rediss?):\/\/[^\s"\\]+/g, '[url]'],
  [/\b(Bearer|Basic) +[\w.~+/=-]+/gi, '$1 [token]'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[token]'],
  [/with args beginning with: (?:[^"\\]|\\.)*/g, 'with args'],
  [/Unexpected (?:[^"\\]|\\.)*? is not valid JSON/g, 'Not valid JSON'],
];
const ANY_LEAK = new RegExp(LEAKS.map(([pattern]) => pattern.source).join('|'), 'i');

/** Makes the logger of a process. Writes to stdout, line by line and at once, unless given a `destination`. */
export function createLog({ service, level, pod }: LogOptions, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: { service, pod },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: withoutSecrets },
      // pino's own would take over everything an error carries.
      serializers: { err: (value: unknown) => (value instanceof Error ? describe(value, 1) : value) },
      // Only names at the top: pino's wildcards would cost more than the rest of the line, `log` above sees deeper.
      redact: { paths: SECRET_NAMES, censor: CENSORED },
      hooks: { streamWrite: withoutLeaks },
    },
    destination ?? pino.destination({ fd: 1, sync: true }),
  );
}

function withoutSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  let shown: Record<string, unknown> | undefined;
  for (const key in fields) {
    const value = fields[key];
    if (typeof value !== 'object' || value === null) continue;
    shown ??= { ...fields };
    shown[key] = showable(value, 1);
  }
  return shown ?? fields;
}

function showable(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEPTH_MAX || ArrayBuffer.isView(value)) return CENSORED;
  if (value instanceof Error) return describe(value, depth);
  if ('toJSON' in value && typeof value.toJSON === 'function') return showable(value.toJSON(), depth + 1);
  if (Array.isArray(value)) return value.map((item) => showable(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      SECRETS.has(key) ? CENSORED : showable(inner, depth + 1),
    ]),
  );
}

// Errors carry more than they say (a Redis error its command, ours the elicitation), so nothing else is taken over.
function describe(error: Error, depth: number): Record<string, unknown> {
  return {
    type: error.name,
    ...('code' in error && { code: error.code }),
    message: error.message,
    stack: error.stack,
    ...(error.cause !== undefined && { cause: showable(error.cause, depth + 1) }),
  };
}

function withoutLeaks(line: string): string {
  if (!ANY_LEAK.test(line)) return line;
  return LEAKS.reduce((text, [pattern, instead]) => text.replace(pattern, instead), line);
}
