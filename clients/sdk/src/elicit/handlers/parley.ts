import type { ParleyClient } from '../../client.ts';
import type { Question, QuestionBase } from '../../question.ts';
import type { ElicitationHandler, Prompt, PromptReply } from '../handler.ts';
import { QuestionLostError } from '../outcome.ts';
import { messageWithFaults } from './messages.ts';

export interface ParleyHandlerOptions {
  /** A client with a service key. */
  readonly client: ParleyClient;
  /** The person who is asked. */
  readonly userId: string;
  readonly streamRequestId?: string;
  readonly conversationId?: string;
  readonly priority?: number;
}

/**
 * Asks through Parley: durably, and on every surface of the person. It cannot ask for secrets, which no form may carry.
 *
 * @example
 * createElicitor({ handlers: [createParleyHandler({ client, userId: 'ada' })] });
 */
export function createParleyHandler(options: ParleyHandlerOptions): ElicitationHandler {
  const { client, priority = 100 } = options;
  return {
    name: 'parley',
    priority,
    canHandle: ({ mode }) => mode !== 'secret',
    async handle(prompt, { signal, remainingMs, key }) {
      // The time-out is part of the digest for which the key stands, so it must not depend on the present time.
      const timeoutSeconds = key === undefined ? secondsOf(remainingMs) : prompt.ask.timeoutSeconds;
      const question = questionOf(prompt, options, timeoutSeconds);
      const asked = await client.start(question, {
        signal,
        ...(key !== undefined && { idempotencyKey: key }),
      });
      const { elicitationId } = asked.elicitation;
      try {
        return replyOf(await asked.outcome);
      } catch (error) {
        // A question with its own key stays open for the restarted process.
        if (key === undefined) await client.withdraw(elicitationId, 'asker_gave_up').catch(() => undefined);
        throw signal.aborted ? error : new QuestionLostError(elicitationId, error);
      }
    },
  };
}

const SECONDS_MAX = 604_800;

function secondsOf(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms / 1_000), 1), SECONDS_MAX);
}

function questionOf(
  prompt: Prompt,
  options: ParleyHandlerOptions,
  timeoutSeconds: number | undefined,
): Question {
  const { userId, streamRequestId, conversationId } = options;
  const base: QuestionBase = {
    userId,
    message: messageWithFaults(prompt),
    ...(streamRequestId !== undefined && { streamRequestId }),
    ...(conversationId !== undefined && { conversationId }),
    ...(prompt.title !== undefined && { title: prompt.title }),
    ...(prompt.description !== undefined && { description: prompt.description }),
    ...(prompt.sensitive === true && { sensitive: true }),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    context: { trigger: 'program' },
  };
  if (prompt.mode === 'url') return { ...base, mode: 'url', url: prompt.url };
  if (prompt.mode === 'form') return { ...base, mode: 'form', requestedSchema: prompt.schema };
  throw new Error('A secret must not travel in a form.');
}

function replyOf(outcome: Awaited<ReturnType<ParleyClient['outcomeOf']>>): PromptReply {
  switch (outcome.status) {
    case 'accepted':
      return { action: 'accept', content: outcome.content };
    case 'declined':
      return { action: 'decline' };
    case 'cancelled':
      return { action: 'cancel' };
    case 'expired':
      return { action: 'expire' };
    case 'withdrawn':
      return { action: 'withdraw', reason: outcome.reason };
  }
}
