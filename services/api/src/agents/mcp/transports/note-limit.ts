import { isRecord } from '@parley/shared/domain/plain-record';

/** Notes of each sort that are passed in a second. Each costs more to read than to send. */
const PER_SECOND = 50;
const SECOND_MS = 1_000;
/** A longer note is not kept beyond them. */
const KEPT_LENGTH_MAX = 16_384;
/** Sorts that may come fast. All others are one sort. */
const FAST = ['notifications/progress', 'notifications/message'];

export interface NoteLimitOptions {
  readonly perSecond?: number;
  /** ms on a clock that never goes back. */
  readonly now?: () => number;
}

/** What a notification is about: its sort, and within it one thing, such as the progress of one call. */
interface NoteSubject {
  readonly sort: string;
  readonly name: string;
}

/**
 * Limits the notifications of a server, such as reports of progress. Takes the JSON of one message, and how it came if that
 * is different; returns what is to be read now. Beyond so many a second, only the latest note about each thing is kept, until
 * something else follows.
 */
export function createNoteLimit({
  perSecond = PER_SECOND,
  now = () => performance.now(),
}: NoteLimitOptions = {}): (json: string, message?: string) => string[] {
  let windowEnds = 0;
  let passed = new Map<string, number>();
  const kept = new Map<string, string>();

  function release(): string[] {
    const notes = [...kept.values()];
    kept.clear();
    return notes;
  }

  /** True for a note that is within the limit of its sort. */
  function isPassed(sort: string): boolean {
    const count = (passed.get(sort) ?? 0) + 1;
    passed.set(sort, count);
    return count <= perSecond;
  }

  return (json, message = json) => {
    const subject = subjectOf(json);
    if (subject === undefined) return [...release(), message];
    kept.delete(subject.name);
    if (now() >= windowEnds) {
      windowEnds = now() + SECOND_MS;
      passed = new Map();
      isPassed(subject.sort);
      return [...release(), message];
    }
    if (isPassed(subject.sort)) return [message];
    if (kept.size < perSecond && message.length <= KEPT_LENGTH_MAX) kept.set(subject.name, message);
    return [];
  };
}

/** The subject of a notification; undefined for other messages. */
function subjectOf(json: string): NoteSubject | undefined {
  if (!json.includes('notifications/')) return undefined;
  try {
    const message: unknown = JSON.parse(json);
    if (!isRecord(message) || 'id' in message || typeof message.method !== 'string') return undefined;
    const { method, params } = message;
    const token = isRecord(params) ? params.progressToken : undefined;
    return { sort: FAST.includes(method) ? method : '', name: JSON.stringify([method, token]) };
  } catch {
    return undefined;
  }
}
