import { type Answer, eventItemOf } from '@parley/core';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { isTerminal } from '@parley/core/domain/elicitations/status';

/** A question for a page to show. */
export interface PageQuestion {
  readonly elicitation: Elicitation;
  /** Answers it. Rejects with ParleyClientError: `invalid_answer` names the fields, and the question stays open. */
  respond(answer: Answer): Promise<unknown>;
}

export interface ElicitationEventOptions {
  /** Records an answer, such as `(id, answer) => client.answer(id, answer)`. */
  readonly answer: (elicitationId: string, answer: Answer) => Promise<unknown>;
  /** A question is open: show it. Called once for each. */
  readonly onOpen: (question: PageQuestion) => void;
  /** A question that is shown has changed: the person has agreed to open its page. */
  readonly onChange?: (elicitation: Elicitation) => void;
  /** A question that is shown has ended, wherever it was answered: remove it. */
  readonly onEnd: (elicitation: Elicitation) => void;
}

/**
 * Handles the event of a question on a page, whatever framework brings it. `take` gets every part of a message or of a
 * stream and ignores what is no question; it returns true for a question. The same part may come any number of times.
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
