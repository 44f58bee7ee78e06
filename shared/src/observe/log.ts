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

/** Names whose values are never written. Callers must not log them either; this is a second safeguard. */
const SECRET_NAMES = [
  ...['message', 'title', 'description', 'requestedSchema', 'url', 'webhookUrl', 'onUnavailable'],
  ...['answer', 'content', 'settlement', 'responseId', 'body', 'messages', 'traceparent'],
  ...['token', 'accessToken', 'access_token', 'refreshToken', 'refresh_token', 'idToken', 'id_token'],
  ...['authorization', 'Authorization', 'cookie', 'headers', 'apiKey', 'api_key', 'code_verifier'],
  ...['password', 'secret', 'clientSecret', 'client_secret', 'credential', 'credentials'],
];
const SECRETS: ReadonlySet<string> = new Set(SECRET_NAMES);

/**
 * What libraries put into error messages: URLs, tokens, arguments of commands, parts of JSON. A token is searched from its
 * first character only, and a fault of JSON quotes a few words, so that a long message takes no longer than its length.
 */
const LEAKS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:https?|rediss?):\/\/[^\s"\\]+/g, '[url]'],
  [/\b(Bearer|Basic) +[\w.~+/=-]+/gi, '$1 [token]'],
  [/(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[token]'],
  [/with args beginning with: (?:[^"\\]|\\.)*/g, 'with args'],
  [/Unexpected (?:[^"\\]|\\.){0,300}? is not valid JSON/g, 'Not valid JSON'],
];
const ANY_LEAK = new RegExp(LEAKS.map(([pattern]) => pattern.source).join('|'), 'i');

// Lines beyond this many bytes that nobody reads are dropped: a stuck reader must not take the memory of the process.
const UNREAD_BYTES_MAX = 16 * 1024 * 1024;

/** How long a process that exits waits for a reader of its last lines who takes nothing, and for any reader; in ms. */
const IDLE_READER_MS = 1_000;
const LAST_LINES_MS = 5_000;

/**
 * Makes the logger of a process. Writes to stdout unless a `destination` is given. A write does not wait for the reader of
 * stdout: with a full pipe a synchronous one would stop everything else. What is unwritten at the exit is written then, for
 * as long as somebody reads it.
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
      // Only top-level names: pino's wildcards would cost more than the rest of the line. `log` above covers nested ones.
      redact: { paths: SECRET_NAMES, censor: CENSORED },
      hooks: { streamWrite: withoutLeaks },
    },
    destination ?? openStdout(),
  );
}

function openStdout(): DestinationStream {
  /** Set at the exit: how much was unwritten when a reader last took some of it. */
  let last: { readonly since: number; readonly at: number; readonly unwritten: number } | undefined;

  /** Whether a write into a full pipe is tried again: always until the exit, and then while somebody reads. */
  function isWorthwhile(_error: Error, ofThis: number, ofOthers: number): boolean {
    if (last === undefined) return true;
    const [now, unwritten] = [performance.now(), ofThis + ofOthers];
    if (unwritten < last.unwritten) last = { ...last, at: now, unwritten };
    return now - last.at < IDLE_READER_MS && now - last.since < LAST_LINES_MS;
  }

  const stdout = pino.destination({
    // Node makes a pipe non-blocking when it is asked for: a write into a full one then fails instead of holding a thread.
    fd: process.stdout.fd,
    sync: false,
    maxLength: UNREAD_BYTES_MAX,
    retryEAGAIN: isWorthwhile,
  });
  // It comes before pino's own listener, which would wait for the reader for ever.
  process.prependListener('exit', () => {
    const now = performance.now();
    last = { since: now, at: now, unwritten: Number.POSITIVE_INFINITY };
    try {
      stdout.flushSync();
    } catch {
      // Nobody reads.
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

// Other properties of errors are not written: a Redis error has its command, and a ParleyError the elicitation.
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
