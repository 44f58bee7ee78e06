import { parsed } from '@parley/core/domain/parsed';
import { z } from 'zod';
import { digestOf, messageIdOf } from '../remote/message-ids.ts';
import { AgUiInterrupt, ThreadMessage } from './events.ts';

/** How far a call of an AG-UI agent has come. Kept in the record of the call, so that any pod can continue it. */
const TaskState = z.looseObject({
  threadId: z.string(),
  /** How many runs have ended. */
  run: z.int().nonnegative().default(0),
  /** True from before a run is posted until its end is recorded. */
  isSending: z.boolean().default(false),
  /** The thread as the last run left it. */
  messages: z.array(ThreadMessage),
  state: z.unknown().optional(),
  /** What the last run waits for. */
  interrupts: z.array(AgUiInterrupt).default([]),
  /** How the last run ended, once no other follows it. */
  end: z
    .looseObject({
      type: z.enum(['success', 'cancelled', 'error']),
      result: z.unknown().optional(),
      code: z.string().default(''),
      message: z.string().default(''),
    })
    .optional(),
  /** How many interrupts there were in all. */
  asked: z.int().nonnegative().default(0),
  /** Time of work so far, in ms, without waits for people. */
  workedMs: z.number().default(0),
  /** Characters of all partial texts that were shown. */
  shownLength: z.number().default(0),
  /** Digest of the last partial text that was shown. */
  shownDigest: z.string().optional(),
  /** The calls that were shown, by the names that they have on the turn's stream; true: with their result. */
  shownCalls: z.record(z.string(), z.boolean()).default({}),
});
export type AgUiTaskState = z.infer<typeof TaskState>;

/** The state in a record. Undefined when it cannot be read. */
export const parseTaskState = (text: string): AgUiTaskState | undefined => parsed(TaskState, text);

/** The state of a call that has sent nothing. Its thread is its own. */
export function newTaskState(callKey: string, task: string): AgUiTaskState {
  const message = { id: messageIdOf(callKey, 'task'), role: 'user', content: task };
  return TaskState.parse({ threadId: messageIdOf(callKey, 'thread'), messages: [message], state: {} });
}

/** The id of the next run. A run that is posted again has the same id, from any pod. */
export function runIdOf(callKey: string, { run }: Pick<AgUiTaskState, 'run'>): string {
  return messageIdOf(callKey, 'run', run);
}

const NAME_LENGTH = 12;

/** The name of a call of the agent within the call that delegates to it. */
export function shownNameOf(toolCallId: string): string {
  return digestOf([toolCallId]).slice(0, NAME_LENGTH);
}
