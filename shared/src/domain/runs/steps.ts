import { isRecord } from '@parley/core/domain/plain-record';
import type { Message, Run, StepRecord } from './run.ts';

/** Splits the steps of a run into the complete ones, and a last one whose tool calls have not all returned. */
export function splitSteps({ steps, calls }: Pick<Run, 'steps' | 'calls'>): {
  readonly whole: readonly StepRecord[];
  readonly unfinished?: StepRecord;
} {
  const last = steps.at(-1);
  if (last === undefined || !hasCalls(calls, steps.length - 1)) return { whole: steps };
  return last.messages.at(-1)?.role === 'tool'
    ? { whole: steps }
    : { whole: steps.slice(0, -1), unfinished: last };
}

/** True when a step called tools. */
export function hasCalls(calls: Run['calls'], index: number): boolean {
  return calls.some(({ step }) => step === index);
}

/** The text that the model wrote in a step, without its calls. */
export function textOfStep({ messages }: Pick<StepRecord, 'messages'>): string {
  return messages
    .flatMap(({ role, content }) => (role === 'assistant' ? content : []))
    .map((part: unknown) => (typeof part === 'string' ? part : isRecord(part) ? textOfPart(part) : ''))
    .join('');
}

function textOfPart({ type, text }: Record<string, unknown>): string {
  return type === 'text' && typeof text === 'string' ? text : '';
}

/** The message that a conversation keeps of an incomplete reply: the text that the person has read. */
export function cutReply(text: string): Message[] {
  return text === '' ? [] : [{ role: 'assistant', content: [{ type: 'text', text }], isCut: true }];
}
