import { type Answer, eventItemOf } from '@parley/core';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { isTerminal } from '@parley/core/domain/elicitations/status';

/** A question that a page shall show. */
export interface PageQuestion {
  readonly elicitation: Elicitation;
  /** Answers the question. Rejects with ParleyClientError. `invalid_answer` names the fields, and the question stays open. */
  respond(answer: Answer): Promise<unknown>;
}

export interface ElicitationEventOptions {
  /** Sends an answer, for example `(id, answer) => client.answer(id, answer)`. */
  readonly answer: (elicitationId: string, answer: Answer) => Promise<unknown>;
  /** Called once for each open question: show it. */
  readonly onOpen: (question: PageQuestion) => void;
  /** Called when a displayed question has changed: the person has agreed to open its page. */
  readonly onChange?: (elicitation: Elicitation) => void;
  /** Called when a displayed question has ended, wherever it was answered: remove it. */
  readonly onEnd: (elicitation: Elicitation) => void;
}

/**
 * Handles the questions of a chat in a page, with any framework. Pass every part of a message or stream to `take`; it
 * returns true for a question and ignores everything else. The same part may come any number of times.
 *
 * @example
 * const questions = createElicitationEvents({
 *   answer: (id, answer) => client.answer(id, answer),
 *   onOpen: ({ elicitation, respond }) => dialog.show(elicitation, respond),
 *   onEnd: ({ elicitationId }) => dialog.remove(elicitationId),
 * });
 * useChat({ transport, onData: questions.take });
 */
export function createElicitationEvents(options: ElicitationEventOptions): {
  take(part: unknown): boolean;
} {
  const { answer, onOpen, onChange, onEnd } = options;
  const shown = new Map<string, string>();
  const ended = new Set<string>();

  return {
    take(part) {
      const elicitation = elicitationIn(part);
      if (elicitation === undefined) return false;
      const { elicitationId: id, status } = elicitation;
      if (ended.has(id)) return true;
      const before = shown.get(id);
      if (isTerminal(status)) {
        ended.add(id);
        shown.delete(id);
        if (before !== undefined) onEnd(elicitation);
        return true;
      }
      shown.set(id, status);
      if (before === undefined) onOpen({ elicitation, respond: (given) => answer(id, given) });
      else if (before !== status) onChange?.(elicitation);
      return true;
    },
  };
}

/** The question in a data part of a chat, in the detail of its DOM event, or in an envelope of the OpenAI format. */
function elicitationIn(part: unknown): Elicitation | undefined {
  const { data = part } = (typeof part === 'object' && part !== null ? part : {}) as {
    readonly data?: unknown;
  };
  const item = eventItemOf('elicitation-request', data);
  return 'elicitation' in item ? item.elicitation : undefined;
}
