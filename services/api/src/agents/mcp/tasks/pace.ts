/** Determines when a task is read again. */
interface TaskPace {
  /** The pause that the server asked for. */
  readonly pollMs?: number | undefined;
  /** The number of successive reads that failed. */
  readonly failures: number;
  /** If the server reports each change: how long the pod still holds the turn, in ms. Absent if it does not report changes. */
  readonly toldMs?: number | undefined;
}

/** Determines when a turn that rests while a task runs is continued. */
interface RestPace extends Pick<TaskPace, 'pollMs'> {
  /** How often the turn has rested since the task changed. */
  readonly rests: number;
  /** True if the person is being asked: their answer continues the turn at once. */
  readonly isAsking: boolean;
}

const SECOND = 1_000;
/** The shortest pause, even if a server asks for less. */
const POLL_MIN_MS = 250;
const POLL_DEFAULT_MS = SECOND;
/** The longest pause, even if the server asks for more: its task may have ended. */
const POLL_MAX_MS = 60 * SECOND;
const FAILED_MAX_MS = 30 * SECOND;
/** The pause while the server reports changes, because a report may be lost. */
const TOLD_MS = 30 * SECOND;
/** Pauses vary by this share, so that many pods do not read their tasks at the same moment. */
const SPREAD = 0.25;
const REST_MIN_MS = SECOND;
const REST_MAX_MS = 60 * SECOND;
const REST_ASKING_MAX_MS = 600 * SECOND;
/** After this many rests each rest is longer than the previous one, because the turn stores a record of each. */
const RESTS_REGULAR = 60;

/** How long to wait before the task is read, in ms. `random` is from 0 to 1. */
export function pollPause({ pollMs, failures, toldMs = 0 }: TaskPace, random: number): number {
  const backOff = failures === 0 ? 0 : Math.min(POLL_MIN_MS * 2 ** failures, FAILED_MAX_MS);
  return spread(Math.max(within(pollMs), backOff, Math.min(toldMs, TOLD_MS)), random);
}

/** How long a turn rests that waits only for the task, and perhaps for its person, in ms. */
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
