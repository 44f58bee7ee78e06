import { parsed } from '@parley/core/domain/parsed';
import { z } from 'zod';
import { digestOf } from '../remote/message-ids.ts';
import { SkillRef } from './skills.ts';

/** The progress of a remote agent's call. It is stored in the record of the call, so that any pod can continue the task. */
const TaskCheckpoint = z.looseObject({
  /** Absent while no task is known. */
  taskId: z.string().optional(),
  /** The context of the task; before the task is known, the context that Parley requested. Absent if the agent refused it. */
  contextId: z.string().optional(),
  /** True from before the first message is sent until its reply is known. */
  isSending: z.boolean().default(false),
  /** The skill that the task uses. */
  skill: SkillRef.optional(),
  /** Keys of the questions that were ever asked. */
  asked: z.array(z.string()).default([]),
  /** Keys of the questions that are settled. */
  done: z.array(z.string()).default([]),
  /**
   * How often each question was asked again, by its key, because its answer was refused or it was withdrawn before its answer.
   */
  refusals: z.record(z.string(), z.int()).default({}),
  /** Time worked so far, in ms, without the waits for people. */
  workedMs: z.number().default(0),
  /** How long the task has waited for authorizations that Parley could only announce, in ms. */
  waitedMs: z.number().default(0),
  /** Total characters of the partial texts shown so far. */
  shownLength: z.number().default(0),
  /** Digest of the last partial text that was shown. */
  shownDigest: z.string().optional(),
});
export type TaskCheckpoint = z.infer<typeof TaskCheckpoint>;

/** Parses the checkpoint in a record. Undefined if it cannot be read. */
export const parseTaskCheckpoint = (text: string): TaskCheckpoint | undefined => parsed(TaskCheckpoint, text);

/** The checkpoint of a call that has sent nothing. The context is unique to the call, so that the task can be found by it. */
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
