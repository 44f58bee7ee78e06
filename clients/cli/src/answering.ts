/**
 * Answers one elicitation in the terminal, from showing it to the recorded answer. Drawing prompts is in `terminal/`, approvals
 * are in `deciding.ts`.
 */

import { isParleyClientError } from '@parley/core';
import { askerOf } from '@parley/core/domain/elicitations/asker';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import { checkFormSchema, type FormSchema } from '@parley/core/domain/forms/schema';
import type { Answer, Elicitation, ParleyClient } from '@parley/sdk';
import type { AnswerFault } from '@parley/sdk/elicit';
import { CliError, EXIT } from './exit-code.ts';
import { type Countdown, createCountdown } from './terminal/countdown.ts';
import type { TerminalContent } from './terminal/fields.ts';
import { openPage } from './terminal/open-page.ts';
import { showQuestion } from './terminal/question.ts';
import type { Screen } from './terminal/screen.ts';

interface AnsweringParts {
  readonly client: ParleyClient;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/** A countdown to the deadline of a question or call that the server has just sent. */
export function countdownOf({
  expiresAt,
  serverTime,
}: Pick<Elicitation, 'expiresAt' | 'serverTime'>): Countdown {
  return createCountdown(Date.parse(expiresAt) - Date.parse(serverTime));
}

/**
 * Shows an elicitation and sends the answer; after a refusal, asks again for the refused fields. A question that ends elsewhere
 * disappears from the screen. Resolves with the latest state of the elicitation.
 */
export async function answerInTerminal(
  parts: AnsweringParts,
  first: Elicitation,
  countdown = countdownOf(first),
): Promise<Elicitation> {
  const { screen } = parts;
  let left = countdown;
  const watching = watchEnd(parts, first.elicitationId, (changed) => {
    left = countdownOf(changed);
  });
  let earlier: TerminalContent | undefined;
  let faults: readonly AnswerFault[] = [];
  try {
    for (;;) {
      const answer = await showQuestion(
        screen,
        { ...first, asker: askerOf(first), form: formOfQuestion(first), earlier, faults },
        {
          signal: watching.signal,
          countdown: () => left(),
          offersDecline: faults.length === 0,
          offersLater: true,
          open: openPage,
        },
      );
      if (watching.signal.aborted) return await settledElsewhere(parts, first);
      if (answer.action === 'later') return first;
      const sent = await send(parts, first, answer);
      if ('elicitation' in sent) {
        if (sent.elicitation.status !== 'opened') return sent.elicitation;
        screen.say('Waiting until the page is finished. Ctrl+C leaves it open.');
        return await watching.ended;
      }
      earlier = answer.action === 'accept' ? answer.content : undefined;
      faults = sent.faults;
    }
  } finally {
    watching.stop();
  }
}

async function settledElsewhere({ client, screen, signal }: AnsweringParts, { elicitationId }: Elicitation) {
  signal.throwIfAborted();
  const elicitation = await client.get(elicitationId);
  screen.say(`This question has ended: ${elicitation.status}.`);
  return elicitation;
}

type Sent = { readonly elicitation: Elicitation } | { readonly faults: readonly AnswerFault[] };

async function send(
  { client }: AnsweringParts,
  { elicitationId }: Elicitation,
  answer: Answer,
): Promise<Sent> {
  try {
    return { elicitation: await client.answer(elicitationId, answer) };
  } catch (error) {
    if (isParleyClientError(error, 'invalid_answer')) return { faults: error.problem?.errors ?? [] };
    const elicitation = isParleyClientError(error) ? error.problem?.elicitation : undefined;
    if (elicitation === undefined) throw error;
    return { elicitation };
  }
}

/** Called with the question when it has changed but is still open. */
type OnChange = (elicitation: Elicitation) => void;

/** Follows the inbox. The returned signal is aborted when the question has ended, or with the caller's signal. */
function watchEnd({ client, signal }: AnsweringParts, elicitationId: string, onChange: OnChange) {
  const controller = new AbortController();
  const following = new AbortController();
  const stop = () => {
    following.abort();
    signal.removeEventListener('abort', abort);
  };
  const abort = () => controller.abort();
  signal.addEventListener('abort', abort, { once: true });
  const ended = untilEnded({ client, signal, onChange }, elicitationId, following.signal);
  // If the live stream fails, the question can still be answered.
  ended.then(abort, () => undefined);
  return { signal: controller.signal, ended, stop };
}

async function untilEnded(
  { client, signal, onChange }: Pick<AnsweringParts, 'client' | 'signal'> & { readonly onChange: OnChange },
  elicitationId: string,
  stopped: AbortSignal,
): Promise<Elicitation> {
  for await (const item of client.inbox({ signal: AbortSignal.any([signal, stopped]) })) {
    if (item.type === 'other' || 'approval' in item) continue;
    const known =
      item.type === 'inbox-snapshot'
        ? item.elicitations.some((one) => one.elicitationId === elicitationId)
        : item.elicitation.elicitationId !== elicitationId;
    if (known) continue;
    const now = item.type === 'inbox-snapshot' ? await client.get(elicitationId) : item.elicitation;
    if (isTerminal(now.status)) return now;
    onChange(now);
  }
  signal.throwIfAborted();
  return client.get(elicitationId);
}

/** The form of a question. Throws for a kind of field that this version does not know. */
function formOfQuestion({ requestedSchema }: Elicitation): FormSchema | undefined {
  if (requestedSchema === undefined) return undefined;
  const check = checkFormSchema(requestedSchema, {}, { patterns: true });
  if (check.ok) return check.schema;
  throw new CliError(
    EXIT.failed,
    'unknown_form',
    'This form has fields that this version of parley cannot show.',
  );
}
