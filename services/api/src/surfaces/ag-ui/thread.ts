import type { StreamRef } from '@parley/core/domain/ids';
import { unlessMissing } from '@parley/shared/domain/caller';
import type { ConversationRef } from '@parley/shared/domain/runs/run';
import type { HistoryMessage } from '../../turns/history.ts';
import type { Turns } from '../../turns/turns.ts';
import { callIdIn, type SentMessage, type SentToolCall, toolCallOf, toolMessageOf } from './shapes.ts';

/** A thread, for a client that returns without its messages. */
interface Thread {
  readonly messages: readonly SentMessage[];
  /** The turn that runs or waits. */
  readonly stream: StreamRef | undefined;
}

// If a turn ends between the two reads of an attempt, a second attempt is made.
const ATTEMPTS = 2;

/** Reads a thread, which is empty if nothing was said. Throws `unavailable`. */
export async function readThread(
  turns: Pick<Turns, 'history' | 'resumable'>,
  conversation: ConversationRef,
): Promise<Thread> {
  for (let attempt = 1; ; attempt += 1) {
    const { messages, isRunning } = await historyOf(turns, conversation);
    const stream = isRunning ? await turns.resumable(conversation, undefined) : undefined;
    if (isRunning && stream === undefined && attempt < ATTEMPTS) continue;
    return { messages: messages.flatMap(threadMessages), stream };
  }
}

async function historyOf(turns: Pick<Turns, 'history'>, conversation: ConversationRef) {
  return (await unlessMissing(turns.history(conversation))) ?? { messages: [], isRunning: false };
}

/** Converts a message of the history to AG-UI: one message for each model step, and one for each result of a call. */
function threadMessages({ id, role, parts }: HistoryMessage): SentMessage[] {
  if (role === 'user') return [{ id, role, content: parts.map(textOfPart).join('') }];
  const steps: HistoryMessage['parts'][number][][] = [];
  for (const part of parts) {
    if (part.type === 'step-start' || steps.length === 0) steps.push([]);
    steps.at(-1)?.push(part);
  }
  return steps.flatMap((step, at) => {
    const content = step.map(textOfPart).join('');
    const calls: SentToolCall[] = [];
    const results: SentMessage[] = [];
    for (const part of step) {
      if (part.type !== 'dynamic-tool') continue;
      const toolCallId = callIdIn(id, part.toolCallId);
      calls.push(toolCallOf(toolCallId, part.toolName, part.input));
      const output = part.output ?? part.errorText ?? part.approval?.reason;
      if (part.state.startsWith('output-')) results.push(toolMessageOf(toolCallId, output ?? part.state));
    }
    if (content === '' && calls.length === 0) return [];
    return [
      {
        id: `${id}.step-${at}`,
        role,
        ...(content !== '' && { content }),
        ...(calls.length > 0 && { toolCalls: calls }),
      },
      ...results,
    ];
  });
}

function textOfPart(part: HistoryMessage['parts'][number]): string {
  return part.type === 'text' ? part.text : '';
}
