import type { Message } from '@parley/shared/domain/runs/run';
import type { FinishReason } from '@parley/shared/domain/runs/turn-events';
import { failed, type ToolOutcome } from '../run/tool.ts';

/** The outcome of the delegating call for a delegate that ended regularly. */
export function delegateOutcome(title: string, reason: FinishReason, text: string): ToolOutcome {
  if (reason === 'step-limit') return failed(`${title} reached its limit before it was done.`);
  if (reason === 'content-filter') return failed(`The answer of ${title} was held back by a content filter.`);
  // The person stopped it, or wrote a message instead of approving a call.
  if (reason === 'stopped') return failed(`${title} was stopped before it was done.`, true);
  return text === '' ? failed(`${title} ended without an answer.`) : { type: 'returned', output: text };
}

/** The outcome of the delegating call for a delegate whose run failed with this code. */
export function delegateFailed(title: string, code: string): ToolOutcome {
  return failed(
    `${title} could not finish the task: ${REASONS[code] ?? 'something went wrong on our side.'}`,
  );
}

const REASONS: Readonly<Record<string, string>> = {
  model_unavailable: 'its model could not answer. It may do so a moment later.',
  timeout: 'it took too long.',
  too_large: 'it said too much.',
  interrupted: 'it was interrupted. It may be asked again.',
  owners_died:
    'the servers that worked on it failed one after the other. It must not be asked for the same again.',
};

/** The text of an assistant's message. */
export function textOf(message: Message | undefined): string {
  const content: unknown = message?.content;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: { type?: unknown; text?: unknown }) => (part.type === 'text' ? part.text : ''))
    .join('');
}
