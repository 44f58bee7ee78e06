import { parsed } from '@parley/core/domain/parsed';
import { z } from 'zod';
import { digestOf, messageIdOf } from '../remote/message-ids.ts';
import { AgUiInterrupt, ThreadMessage } from './events.ts';

/** The progress of an AG-UI agent's call. It is stored in the record of the call, so that any pod can continue the task. */
const TaskState = z.looseObject({
  threadId: z.string(),
  /** How many runs have ended. */
  run: z.int().nonnegative().default(0),
  /** True from before a run is posted until its end is recorded. */
  isSending: z.boolean().default(false),
  /** The thread at the end of the last run. */
  messages: z.array(ThreadMessage),
  state: z.unknown().optional(),
  /** The interrupts for which the last run waits. */
  interrupts: z.array(AgUiInterrupt).default([]),
  /** How the last run ended; absent while another run follows. */
  end: z
    .looseObject({
      type: z.enum(['success', 'cancelled', 'error']),
      result: z.unknown().optional(),
      code: z.string().default(''),
      message: z.string().default(''),
    })
    .optional(),
  /** The total number of interrupts so far. */
  asked: z.int().nonnegative().default(0),
  /** Time worked so far, in ms, without the waits for people. */
  workedMs: z.number().default(0),
  /** Total characters of the partial texts shown so far. */
  shownLength: z.number().default(0),
  /** Digest of the last partial text that was shown. */
  shownDigest: z.string().optional(),
  /** The calls shown so far, by their names on the turn's stream. True: the result was shown, too. */
  shownCalls: z.record(z.string(), z.boolean()).default({}),
});
export type AgUiTaskState = z.infer<typeof TaskState>;

/** Parses the state in a record. Undefined if it cannot be read. */
export const parseTaskState = (text: string): AgUiTaskState | undefined => parsed(TaskState, text);

/** The state of a call that has sent nothing. Its thread is unique to the call. */
export function newTaskState(callKey: string, task: string): AgUiTaskState {
  const message = { id: messageIdOf(callKey, 'task'), role: 'user', content: task };
  return TaskState.parse({ threadId: messageIdOf(callKey, 'thread'), messages: [message], state: {} });
}

/** The id of the next run. Any pod that posts the run again uses the same id. */
export function runIdOf(callKey: string, { run }: Pick<AgUiTaskState, 'run'>): string {
  return messageIdOf(callKey, 'run', run);
}

const NAME_LENGTH = 12;

/** The name of the agent's call within the delegating call. */
export function shownNameOf(toolCallId: string): string {
  return digestOf([toolCallId]).slice(0, NAME_LENGTH);
}
