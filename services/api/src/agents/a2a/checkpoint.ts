import { parsed } from '@parley/core/domain/parsed';
import { z } from 'zod';
import { digestOf } from '../remote/message-ids.ts';
import { SkillRef } from './skills.ts';

/** How far a call of a remote agent has come. Kept in the record of the call, so that any pod can continue it. */
const TaskCheckpoint = z.looseObject({
  /** Absent while no task is known. */
  taskId: z.string().optional(),
  /** The context of the task; before, the one that Parley asked for. Absent where the agent did not take it. */
  contextId: z.string().optional(),
  /** True from before the first message is sent until its reply is known. */
  isSending: z.boolean().default(false),
  /** The skill that the task is for. */
  skill: SkillRef.optional(),
  /** Keys of the questions that were ever asked. */
  asked: z.array(z.string()).default([]),
  /** Keys of the questions that are settled. */
  done: z.array(z.string()).default([]),
  /** How often a question was asked again, by its key: its answer was refused, or it was withdrawn before its answer. */
  refusals: z.record(z.string(), z.int()).default({}),
  /** Time of work so far, in ms, without waits for people. */
  workedMs: z.number().default(0),
  /** Time for which the task has waited for authorizations that are no questions, in ms. */
  waitedMs: z.number().default(0),
  /** Characters of all partial texts that were shown. */
  shownLength: z.number().default(0),
  /** Digest of the last partial text that was shown. */
  shownDigest: z.string().optional(),
});
export type TaskCheckpoint = z.infer<typeof TaskCheckpoint>;

/** The checkpoint in a record. Undefined when it cannot be read. */
export const parseTaskCheckpoint = (text: string): TaskCheckpoint | undefined => parsed(TaskCheckpoint, text);

/** The checkpoint of a call that has sent nothing. Its context is its own, so that its task can be found by it. */
export function newCheckpoint(callKey: string, skill?: SkillRef): TaskCheckpoint {
  const contextId = `parley-${digestOf([callKey, 'context']).slice(0, 32)}`;
  return {
    contextId,
    isSending: false,
    ...(skill !== undefined && { skill }),
    asked: [],
    done: [],
    refusals: {},
    workedMs: 0,
    waitedMs: 0,
    shownLength: 0,
  };
}
