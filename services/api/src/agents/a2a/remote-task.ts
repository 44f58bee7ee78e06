import { z } from 'zod';

/** A task of a remote agent, in the JSON of A2A 1.0. All of it is untrusted. */

const PARTS_MAX = 200;
const HISTORY_MAX = 200;

const RemotePart = z.looseObject({
  text: z.string().optional(),
  url: z.string().optional(),
  raw: z.string().optional(),
  data: z.unknown().optional(),
  filename: z.string().optional(),
  mediaType: z.string().optional(),
});
export type RemotePart = z.infer<typeof RemotePart>;

const Parts = z
  .array(RemotePart)
  .default([])
  .transform((parts) => parts.slice(0, PARTS_MAX));
/** Agents that stream an artifact append one part for each piece of its text. */
const ArtifactParts = z
  .array(RemotePart)
  .default([])
  .transform((parts) => joinTexts(parts).slice(0, PARTS_MAX));
export const RemoteMessage = z.looseObject({ messageId: z.string().default(''), parts: Parts });
export type RemoteMessage = z.infer<typeof RemoteMessage>;

/** Ids are sent back to the agent, so long ones are refused. */
const RemoteId = z.string().min(1).max(1_000);

export const RemoteTask = z.looseObject({
  id: RemoteId,
  contextId: z.string().max(1_000).default(''),
  status: z
    .looseObject({
      state: z.string().default(''),
      message: RemoteMessage.optional(),
      timestamp: z.string().max(100).optional(),
    })
    .default({ state: '' }),
  artifacts: z.array(z.looseObject({ name: z.string().optional(), parts: ArtifactParts })).default([]),
  history: z
    .array(z.looseObject({ messageId: z.string().default('') }))
    .default([])
    .transform((messages) => messages.slice(-HISTORY_MAX)),
});
export type RemoteTask = z.infer<typeof RemoteTask>;

function joinTexts(parts: readonly RemotePart[]): RemotePart[] {
  const joined: RemotePart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.text === undefined || last?.text === undefined) joined.push({ ...part });
    else last.text += part.text;
  }
  return joined;
}

/** A text that differs when the task has changed. It omits the timestamp, which some agents change at each reading. */
export function markOf({ status: { timestamp: _timestamp, ...status } }: Pick<RemoteTask, 'status'>): string {
  return JSON.stringify(status);
}

/** The ids of a task, which every event of its stream contains. */
export interface TaskIds {
  readonly taskId: string;
  readonly contextId: string;
}
