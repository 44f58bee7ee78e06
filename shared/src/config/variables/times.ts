import { integer } from './schemas.ts';

/** The variables for durations and intervals. They are part of `Variables`. */
export const TIME_VARIABLES = {
  PARLEY_RETENTION_SECONDS: integer(
    [86_400, 1, 31_536_000],
    'How long ended elicitations and inactive feeds are kept.',
  ),
  PARLEY_CONVERSATION_SECONDS: integer(
    [2_592_000, 60, 315_360_000],
    'How long a conversation is kept after its last turn.',
  ),
  PARLEY_GRACE_MS: integer(
    [5_000, 100, 60_000],
    'How long after the deadline of its elicitation a waiter may return.',
  ),
  PARLEY_RECHECK_MS: integer(
    [30_000, 100, 600_000],
    'How often a waiter or reader polls without a wake; a reader of a silent stream up to 8 times as seldom.',
  ),
  PARLEY_SWEEP_MS: integer([5_000, 100, 600_000], 'How often every pod sweeps the deadline index.'),
  PARLEY_HEARTBEAT_MS: integer(
    [15_000, 100, 20_000],
    'Pause between heartbeats of a stream. Clients close a stream that is silent for 45 s.',
  ),
  PARLEY_KEEP_ALIVE_MS: integer(
    [70_000, 1_000, 86_400_000],
    'How long the api keeps an idle connection. The load balancer in front must close its idle connections earlier.',
  ),
  PARLEY_DRAIN_MS: integer([10_000, 100, 300_000], 'Maximum duration of a shutdown.'),
  PARLEY_STALL_MS: integer(
    [30_000, 0, 600_000],
    'A process ends itself, so that an orchestrator starts it anew, once its event loop has not turned for so long; less than 1000 counts as 1000. 0: never.',
  ),
  PARLEY_DRAIN_DELAY_MS: integer(
    [1_000, 0, 60_000],
    'How long a draining pod still accepts requests, until load balancers have noticed.',
  ),
  PARLEY_INDEX_CHECK_MS: integer(
    [60_000, 100, 86_400_000],
    'How often one worker checks what the indexes list against the rows.',
  ),
  PARLEY_CLEANUP_MS: integer(
    [86_400_000, 100, 604_800_000],
    'How often one worker reads all keys, 2,000 a second, for rows that no index lists and data that should have expired.',
  ),
  PARLEY_LEASE_MS: integer(
    [6_000, 500, 600_000],
    'Lease of a pod on its turns: without a heartbeat for this long, they are taken over. A pod sends four heartbeats in this time.',
  ),
  PARLEY_TAKE_OVER_MS: integer([2_000, 100, 600_000], 'How often the worker looks for orphaned turns.'),
  PARLEY_HOLD_SECONDS: integer(
    [300, 1, 604_800],
    'How long a pod holds a turn that waits for its person, and its stream. Then it detaches the turn, and after the answer any pod resumes it.',
  ),
  PARLEY_OUTBOX_MS: integer(
    [1_000, 100, 600_000],
    'How often a process looks through the outbox for tasks that nobody told it of; up to 16 times as seldom while it finds none.',
  ),
  PARLEY_CANARY_MS: integer([15_000, 100, 600_000], 'How often the timer canary runs.'),
};
