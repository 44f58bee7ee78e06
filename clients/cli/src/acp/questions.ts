/**
 * Shows the questions of a turn as ACP elicitations and sends the answers back. The wire forms are in `elicitation.ts`,
 * approvals in `approvals.ts`.
 */

import { type AgentContext, methods } from '@agentclientprotocol/sdk';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import { type Answer, type Elicitation, isParleyClientError, type ParleyClient } from '@parley/sdk';
import type { ShownModes } from './capabilities.ts';
import { describeElsewhere, describeFailed, describeUndelivered, NOBODY_WAS_ASKED } from './describe.ts';
import { createRequest, type FieldFaults, readResponse } from './elicitation.ts';

export interface QuestionsDeps {
  readonly client: Pick<AgentContext, 'request' | 'notify'>;
  readonly parley: Pick<ParleyClient, 'answer'>;
  readonly modes: ShownModes;
  readonly sessionId: string;
  /** Adds a paragraph to the text of the turn. */
  readonly say: (text: string) => Promise<void>;
  readonly log: (line: string) => void;
}

/** The questions of one turn, as displayed over one ACP connection. */
export interface Questions {
  /** Takes the newest state of a question: asks a new one, and ends the request of an ended one. */
  see(elicitation: Elicitation): Promise<void>;
  /** Ends the requests to the client without answering. The questions themselves belong to the turn and stay open. */
  close(): void;
}

/** How often a form is shown in all, when the server refuses its answers. */
const FORM_TRIES_MAX = 5;
/** Error codes of an answer that came too late, because the question ended elsewhere. */
const SETTLED = ['already_settled', 'expired', 'not_found'] as const;

interface SeenQuestion {
  /** Aborted when the question has ended. */
  readonly ended: AbortController;
  /** True for a question that was only described in text, because this client cannot show it. */
  readonly isElsewhere: boolean;
  /** True once the person agreed to open the page of a url question that the server completes. */
  isConsented: boolean;
}

export function createQuestions(deps: QuestionsDeps): Questions {
  const { client, modes, say, log } = deps;
  const seen = new Map<string, SeenQuestion>();

  async function end(elicitation: Elicitation, question: SeenQuestion): Promise<void> {
    if (question.ended.signal.aborted) return;
    question.ended.abort();
    const { elicitationId } = elicitation;
    if (question.isElsewhere && isUndeliverable(elicitation)) return say(NOBODY_WAS_ASKED);
    if (!question.isConsented) return;
    await client.notify(methods.client.elicitation.complete, { elicitationId });
  }

  return {
    async see(elicitation) {
      const { elicitationId: id, status } = elicitation;
      const known = seen.get(id);
      if (known !== undefined) return isTerminal(status) ? end(elicitation, known) : undefined;
      const isElsewhere = !isShown(elicitation, modes);
      const question: SeenQuestion = { ended: new AbortController(), isElsewhere, isConsented: false };
      seen.set(id, question);
      if (isTerminal(status)) {
        question.ended.abort();
        if (isUndeliverable(elicitation)) await say(describeUndelivered(elicitation));
        return;
      }
      if (isElsewhere) return say(describeElsewhere(elicitation));
      // Reading the turn continues during the request, because the question may be answered elsewhere.
      void ask(deps, elicitation, question).catch((error: unknown) =>
        log(`a question could not be put to the editor: ${nameOf(error)}`),
      );
    },
    close() {
      for (const { ended } of seen.values()) ended.abort();
    },
  };
}

function isUndeliverable({ status, reason }: Elicitation): boolean {
  return status === 'withdrawn' && reason === 'undeliverable';
}

/** Whether the client can show the question. ACP forbids forms for sensitive answers. */
function isShown({ mode, sensitive }: Elicitation, modes: ShownModes): boolean {
  return modes[mode] && !(mode === 'form' && sensitive === true);
}

/** Asks the client and records the answer. Returns when the question has ended. */
async function ask(deps: QuestionsDeps, elicitation: Elicitation, question: SeenQuestion): Promise<void> {
  const { client, parley, sessionId, say } = deps;
  const { elicitationId: id } = elicitation;
  const { signal } = question.ended;
  let faults: FieldFaults = [];
  for (let tries = 1; tries <= FORM_TRIES_MAX; tries += 1) {
    const answer = await requestAnswer(
      client,
      createRequest(sessionId, elicitation, faults),
      elicitation,
      signal,
    );
    if (signal.aborted) return;
    if (answer === undefined) break;
    try {
      const isPage = elicitation.mode === 'url' && elicitation.completion === 'server';
      // This is set before the answer is sent, because the end of the question may be read before the reply.
      question.isConsented = answer.action === 'accept' && isPage;
      await parley.answer(id, answer, { signal });
      return;
    } catch (error) {
      if (signal.aborted || SETTLED.some((code) => isParleyClientError(error, code))) return;
      if (!isParleyClientError(error, 'invalid_answer')) throw error;
      faults = error.problem?.errors ?? [];
    }
  }
  await say(describeFailed(elicitation));
  await parley.answer(id, { action: 'cancel' }, { signal });
}

/** The client's answer; undefined if the request failed or the answer has a kind that this version does not know. */
async function requestAnswer(
  client: QuestionsDeps['client'],
  request: ReturnType<typeof createRequest>,
  elicitation: Elicitation,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  try {
    const options = { cancellationSignal: signal, stopWaitingOnCancel: true };
    return readResponse(
      elicitation,
      await client.request(methods.client.elicitation.create, request, options),
    );
  } catch {
    return undefined;
  }
}

function nameOf(error: unknown): string {
  if (isParleyClientError(error)) return error.code;
  return error instanceof Error ? error.name : 'unknown error';
}
