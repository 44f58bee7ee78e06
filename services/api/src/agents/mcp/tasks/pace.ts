/** What decides when a task is read again. */
interface TaskPace {
  /** The pause that its server asked for. */
  readonly pollMs?: number | undefined;
  /** Reads that failed, one after the other. */
  readonly failures: number;
  /** Where the server tells each change: how long its pod holds the turn yet, in ms. Absent: it does not. */
  readonly toldMs?: number | undefined;
}

/** What decides when a turn that rests for a task is continued. */
interface RestPace extends Pick<TaskPace, 'pollMs'> {
  /** How often it has rested since the task changed. */
  readonly rests: number;
  /** Whether the person is asked in the meantime: their answer continues the turn at once. */
  readonly isAsking: boolean;
}

const SECOND = 1_000;
/** However little a server asks for. */
const POLL_MIN_MS = 250;
const POLL_DEFAULT_MS = SECOND;
/** The longest pause, whatever pause the server asks for: its task may have ended. */
const POLL_MAX_MS = 60 * SECOND;
const FAILED_MAX_MS = 30 * SECOND;
/** The pause while the server tells changes: a message may be lost. */
const TOLD_MS = 30 * SECOND;
/** Pauses differ by so much, so that the tasks of many pods are not read at the same moment. */
const SPREAD = 0.25;
const REST_MIN_MS = SECOND;
const REST_MAX_MS = 60 * SECOND;
const REST_ASKING_MAX_MS = 600 * SECOND;
/** From so many on, each rest is longer than the one before: the turn keeps a record of each. */
const RESTS_REGULAR = 60;

/** How long to wait until the task is read, in ms. `random` is from 0 to 1. */
export function pollPause({ pollMs, failures, toldMs = 0 }: TaskPace, random: number): number {
  const backOff = failures === 0 ? 0 : Math.min(POLL_MIN_MS * 2 ** failures, FAILED_MAX_MS);
  return spread(Math.max(within(pollMs), backOff, Math.min(toldMs, TOLD_MS)), random);
}

/** How long a turn rests that nothing but the task, and perhaps its person, keeps. In ms. */
export function restPause({ pollMs, rests, isAsking }: RestPace, random: number): number {
  const most = (isAsking ? REST_ASKING_MAX_MS : REST_MAX_MS) * Math.max(1, rests / RESTS_REGULAR);
  return spread(Math.max(within(pollMs), Math.min(REST_MIN_MS * 2 ** rests, most)), random);
}

function within(pollMs = POLL_DEFAULT_MS): number {
  return Math.min(Math.max(pollMs, POLL_MIN_MS), POLL_MAX_MS);
}

function spread(ms: number, random: number): number {
  return Math.round(ms * (1 + SPREAD * random));
}
