/**
 * The logger of every process, which keeps secrets out of its lines and never lets a slow reader block the process. What is
 * logged, and at which level, is decided by the callers.
 */

import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';

/** A structured logger: one line of JSON per call. Pass fields first, then the message. */
export type Log = Logger;

interface LogOptions {
  readonly service: string;
  readonly level: LevelWithSilent;
  readonly pod: string;
}

const CENSORED = '[redacted]';
const DEPTH_MAX = 4;

/** The values of these fields are never written. Callers must not log them either; this is a second safeguard. */
const SECRET_NAMES = [
  ...['message', 'title', 'description', 'requestedSchema', 'url', 'webhookUrl', 'onUnavailable'],
  ...['answer', 'content', 'settlement', 'responseId', 'body', 'messages', 'traceparent'],
  ...['token', 'accessToken', 'access_token', 'refreshToken', 'refresh_token', 'idToken', 'id_token'],
  ...['authorization', 'Authorization', 'cookie', 'headers', 'apiKey', 'api_key', 'code_verifier'],
  ...['password', 'secret', 'clientSecret', 'client_secret', 'credential', 'credentials'],
];
const SECRETS: ReadonlySet<string> = new Set(SECRET_NAMES);

/**
 * Secrets that libraries put into error messages: URLs, tokens, arguments of commands, parts of JSON. The patterns run in
 * linear time: a token is matched only from its first character, and a JSON error quotes only a few words.
 */
const LEAKS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:https?|rediss?):\/\/[^\s"\\]+/g, '[url]'],
  [/\b(Bearer|Basic) +[\w.~+/=-]+/gi, '$1 [token]'],
  [/(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[token]'],
  [/with args beginning with: (?:[^"\\]|\\.)*/g, 'with args'],
  [/Unexpected (?:[^"\\]|\\.){0,300}? is not valid JSON/g, 'Not valid JSON'],
];
const ANY_LEAK = new RegExp(LEAKS.map(([pattern]) => pattern.source).join('|'), 'i');

// Beyond this many unread bytes, lines are dropped: a stuck reader must not exhaust the memory of the process.
const UNREAD_BYTES_MAX = 16 * 1024 * 1024;

/**
 * How long an exiting process waits for a reader that takes none of its last lines, in ms. `LAST_LINES_MS` limits the wait for
 * any reader.
 */
const IDLE_READER_MS = 1_000;
const LAST_LINES_MS = 5_000;

/**
 * Makes the logger of a process. It writes to stdout unless a `destination` is given. Writes are asynchronous, because a
 * synchronous write to a full pipe would block the whole process. Lines that are unwritten at the exit are written then, for as
 * long as somebody reads them.
 */
export function createLog({ service, level, pod }: LogOptions, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: { service, pod },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: withoutSecrets },
      // pino's own serializer would write all properties of an error.
      serializers: { err: (value: unknown) => (value instanceof Error ? describe(value, 1) : value) },
      // Only top-level names are listed, because pino's wildcards would cost more than the rest of the line. `log` above covers
      // nested names.
      redact: { paths: SECRET_NAMES, censor: CENSORED },
      hooks: { streamWrite: withoutLeaks },
    },
    destination ?? openStdout(),
  );
}

function openStdout(): DestinationStream {
  /** Set at the exit: when the last reading was seen, and how many bytes were unwritten then. */
  let last: { readonly since: number; readonly at: number; readonly unwritten: number } | undefined;

  /** Whether to retry a write to a full pipe: always before the exit, and during the exit only while somebody reads. */
  function isWorthwhile(_error: Error, ofThis: number, ofOthers: number): boolean {
    if (last === undefined) return true;
    const [now, unwritten] = [performance.now(), ofThis + ofOthers];
    if (unwritten < last.unwritten) last = { ...last, at: now, unwritten };
    return now - last.at < IDLE_READER_MS && now - last.since < LAST_LINES_MS;
  }

  const stdout = pino.destination({
    // By its descriptor, Node makes the pipe non-blocking: writing to a full pipe then fails instead of blocking a thread.
    fd: process.stdout.fd,
    sync: false,
    maxLength: UNREAD_BYTES_MAX,
    retryEAGAIN: isWorthwhile,
  });
  // This listener must run before pino's own, which would wait for the reader for ever.
  process.prependListener('exit', () => {
    const now = performance.now();
    last = { since: now, at: now, unwritten: Number.POSITIVE_INFINITY };
    try {
      stdout.flushSync();
    } catch {
      // Nobody reads the pipe any more, so the last lines are lost.
    }
    stdout.destroy();
  });
  return stdout;
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

// Other properties of an error are omitted: a Redis error contains its command, and a ParleyError the elicitation.
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
