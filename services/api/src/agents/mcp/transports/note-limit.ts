/** Limits the notifications that a server may send per second. Other messages are passed on unchanged. */

import { isRecord } from '@parley/core/domain/plain-record';

/** How many notes of each kind are passed on per second. Reading a note costs more than sending it. */
const PER_SECOND = 50;
const SECOND_MS = 1_000;
/** How many notes are kept until the second ends. */
const KEPT_MAX = 50;
/** The maximum length of a kept note. */
const KEPT_LENGTH_MAX = 16_384;
/** Kinds with their own limit: those that may be frequent, and those that end a wait. All other notes count as one kind. */
const SORTS = ['progress', 'message', 'cancelled', 'elicitation/complete', 'resources/updated'].map(
  (name) => `notifications/${name}`,
);
/** Members of a notification that identify its subject. */
const ABOUT = ['progressToken', 'requestId', 'elicitationId', 'uri'];

interface NoteLimitOptions {
  /** Receives the kept notes when the second has ended. */
  readonly release: (notes: string[]) => void;
  readonly perSecond?: number;
  /** Called at the end of a second in which more notes of changed resources arrived than are kept. */
  readonly onChangesDropped?: (() => void) | undefined;
}

const CHANGED = 'notifications/resources/updated';

/** Limits the notifications of one stream of a server, such as reports of progress. */
export interface NoteLimit {
  /**
   * Takes the JSON of one message, and its original form if that differs. Returns the messages to read now. Beyond the limit
   * per second, only the latest note about each subject is kept, until another message follows or the second ends.
   */
  take(json: string, message?: string): string[];
  /** Ends the stream, and returns the kept notes. */
  end(): string[];
}

/** The subject of a notification: its kind, and an individual thing such as the progress of one call. */
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
    // The kept note loses its event id: later events may be read first, and a client that reconnects must not return to this
    // one.
    if (isKept) kept.set(name, message.replace(/^id:.*(?:\r\n|\r|\n)/gm, ''));
    else if (sort === CHANGED) hasDroppedChanges = true;
    else return;
    timer ??= setTimeout(() => release(takeKept()), windowEnds - performance.now()).unref();
  }

  /** True for a note within the limit of its kind. */
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
