import { isRecord } from '@parley/shared/domain/plain-record';

/** Notes of one stream that are passed in a second. Each costs more to read than to send. */
const PER_SECOND = 50;
const SECOND_MS = 1_000;

export interface NoteLimitOptions {
  readonly perSecond?: number;
  /** ms on a clock that never goes back. */
  readonly now?: () => number;
}

/**
 * Limits the notifications of a server, such as reports of progress. Takes the JSON of one message, and how it came if that
 * is different; returns what is to be read now. Beyond so many a second, only the latest note of each kind is kept, until
 * something else follows.
 */
export function createNoteLimit({
  perSecond = PER_SECOND,
  now = () => performance.now(),
}: NoteLimitOptions = {}): (json: string, message?: string) => string[] {
  let windowEnds = 0;
  let passed = 0;
  const held = new Map<string, string>();

  function release(): string[] {
    const notes = [...held.values()];
    held.clear();
    return notes;
  }

  return (json, message = json) => {
    const kind = kindOf(json);
    if (kind === undefined) return [...release(), message];
    if (now() >= windowEnds) {
      windowEnds = now() + SECOND_MS;
      held.delete(kind);
      const earlier = release();
      passed = earlier.length + 1;
      return [...earlier, message];
    }
    if (passed < perSecond) {
      passed += 1;
      return [message];
    }
    held.delete(kind);
    if (held.size < perSecond) held.set(kind, message);
    return [];
  };
}

/** What a notification tells about, such as the progress of one call; undefined for other messages. */
function kindOf(json: string): string | undefined {
  if (!json.includes('notifications/')) return undefined;
  try {
    const message: unknown = JSON.parse(json);
    if (!isRecord(message) || 'id' in message || typeof message.method !== 'string') return undefined;
    const token = isRecord(message.params) ? message.params.progressToken : undefined;
    return `${message.method} ${String(token)}`;
  } catch {
    return undefined;
  }
}
