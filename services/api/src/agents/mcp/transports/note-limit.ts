import { isRecord } from '@parley/core/domain/plain-record';

/** Notes of each sort that are passed in a second. Each costs more to read than to send. */
const PER_SECOND = 50;
const SECOND_MS = 1_000;
/** Notes that are kept until the second ends. */
const KEPT_MAX = 50;
/** A longer note is not kept. */
const KEPT_LENGTH_MAX = 16_384;
/** Sorts with a pace of their own: those that may come fast, and those that end a wait. All others are one sort. */
const SORTS = ['progress', 'message', 'cancelled', 'elicitation/complete', 'resources/updated'].map(
  (name) => `notifications/${name}`,
);
/** Members of a notification that say what it is about. */
const ABOUT = ['progressToken', 'requestId', 'elicitationId', 'uri'];

interface NoteLimitOptions {
  /** Gets what was kept once the second has ended. */
  readonly release: (notes: string[]) => void;
  readonly perSecond?: number;
  /** Called once the second has ended in which the notes of changed resources were more than are kept. */
  readonly onChangesDropped?: (() => void) | undefined;
}

const CHANGED = 'notifications/resources/updated';

/** Limits the notifications of one stream of a server, such as reports of progress. */
export interface NoteLimit {
  /**
   * Takes the JSON of one message, and how it came if that is different; returns what is to be read now. Beyond so many a
   * second, only the latest note about each thing is kept, until something else follows or the second ends.
   */
  take(json: string, message?: string): string[];
  /** Ends the stream, and returns what was kept. */
  end(): string[];
}

/** What a notification is about: its sort, and within it one thing, such as the progress of one call. */
interface NoteSubject {
  readonly sort: string;
  readonly name: string;
}

export function createNoteLimit({
  release,
  perSecond = PER_SECOND,
  onChangesDropped,
}: NoteLimitOptions): NoteLimit {
  let windowEnds = 0;
  let passed = new Map<string, number>();
  const kept = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let hasDroppedChanges = false;

  function takeKept(): string[] {
    clearTimeout(timer);
    timer = undefined;
    const notes = [...kept.values()];
    kept.clear();
    if (hasDroppedChanges) onChangesDropped?.();
    hasDroppedChanges = false;
    return notes;
  }

  function keep({ sort, name }: NoteSubject, message: string): void {
    const isKept = kept.size < KEPT_MAX && message.length <= KEPT_LENGTH_MAX;
    // Later events may be read before it, and a client that connects again must not go back to this one.
    if (isKept) kept.set(name, message.replace(/^id:.*(?:\r\n|\r|\n)/gm, ''));
    else if (sort === CHANGED) hasDroppedChanges = true;
    else return;
    timer ??= setTimeout(() => release(takeKept()), windowEnds - performance.now()).unref();
  }

  /** True for a note that is within the limit of its sort. */
  function isPassed(sort: string): boolean {
    const count = (passed.get(sort) ?? 0) + 1;
    passed.set(sort, count);
    return count <= perSecond;
  }

  return {
    take(json, message = json) {
      const subject = subjectOf(json);
      if (subject === undefined) return [...takeKept(), message];
      kept.delete(subject.name);
      const now = performance.now();
      if (now >= windowEnds) {
        windowEnds = now + SECOND_MS;
        passed = new Map();
        isPassed(subject.sort);
        return [...takeKept(), message];
      }
      if (isPassed(subject.sort)) return [message];
      keep(subject, message);
      return [];
    },
    end: takeKept,
  };
}

/** The subject of a notification; undefined for other messages. */
function subjectOf(json: string): NoteSubject | undefined {
  if (!json.includes('notifications/')) return undefined;
  try {
    const message: unknown = JSON.parse(json);
    if (!isRecord(message) || 'id' in message || typeof message.method !== 'string') return undefined;
    const { method, params } = message;
    const about = isRecord(params) ? ABOUT.map((name) => params[name]) : [];
    return { sort: SORTS.includes(method) ? method : '', name: JSON.stringify([method, ...about]) };
  } catch {
    return undefined;
  }
}
