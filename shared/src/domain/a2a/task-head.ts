import { isRecord } from '@parley/core/domain/plain-record';
import type { Run } from '../runs/run.ts';
import { contextOf } from './context.ts';
import type { TaskHead } from './task.ts';

/** The task head of a turn. */
export function taskHeadOf({ streamRequestId, conversationId, input }: Run): TaskHead {
  const content = input.at(-1)?.content;
  return { taskId: streamRequestId, contextId: contextOf(conversationId), text: textOfContent(content) };
}

function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isRecord(part) && typeof part.text === 'string' ? part.text : '')).join('');
}
