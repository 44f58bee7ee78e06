/**
 * The course of one question in the terminal: its text, its form or page, and the choice to answer, decline or leave. Sending
 * the answer is in `answering.ts`.
 */

import { type Risk, riskNote } from '@parley/core/domain/approvals/risk';
import type { FormSchema } from '@parley/core/domain/forms/schema';
import { readable, readableLine } from '@parley/core/domain/readable';
import type { AnswerFault } from '@parley/sdk/elicit';
import { askFields, type TerminalContent } from './fields.ts';
import { LEFT, type Screen } from './screen.ts';

/** A question in the form that the terminal shows. */
interface TerminalQuestion {
  /** Who asks, if known. */
  readonly asker?: string | undefined;
  readonly risk?: Risk | undefined;
  readonly message: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly sensitive?: boolean | undefined;
  readonly form?: FormSchema | undefined;
  readonly url?: string | undefined;
  /** True for a hidden input. */
  readonly isSecret?: boolean;
  /** The earlier input; `faults` says what is wrong with it. */
  readonly earlier?: Readonly<TerminalContent> | undefined;
  readonly faults?: readonly AnswerFault[];
}

type TerminalAnswer =
  | { readonly action: 'accept'; readonly content?: TerminalContent; readonly secret?: string }
  | { readonly action: 'decline' | 'cancel' }
  /** The question stays open. Only callers that offer "Later" get this result. */
  | { readonly action: 'later' };

interface ShowOptions {
  readonly signal: AbortSignal;
  /** The remaining time, shown after the labels; empty for none. */
  readonly countdown: () => string;
  /** True: the person first chooses between answering and declining. A url question always offers that. */
  readonly offersDecline: boolean;
  /** True: the person can leave the question open. */
  readonly offersLater?: boolean;
  /** Opens a page in the person's browser. */
  readonly open: (url: string) => void;
}

const TICK_MS = 1_000;
const LATER = { value: 'later', label: 'Later' } as const;

/**
 * Shows a question and waits for the person. Both Ctrl+C and an aborted signal give `cancel`; the caller can check the signal.
 */
export async function showQuestion(
  screen: Screen,
  question: TerminalQuestion,
  options: ShowOptions,
): Promise<TerminalAnswer> {
  const ticking = setInterval(() => screen.redraw(), TICK_MS);
  try {
    introduce(screen, question);
    if (question.url !== undefined) return await askToOpen(screen, question.url, options);
    if (options.offersDecline) {
      const action = await askWhether(screen, options);
      if (action !== 'accept') return { action };
    }
    return await askForAnswer(screen, question, options);
  } finally {
    clearInterval(ticking);
  }
}

function introduce(
  screen: Screen,
  { asker, risk, title, message, description, faults = [], form }: TerminalQuestion,
): void {
  const known = form?.properties ?? {};
  const general = faults.filter(({ path }) => !Object.hasOwn(known, path));
  const lines = [
    ...(asker === undefined ? [] : [`${readableLine(asker)} asks${riskNote(risk)}:`]),
    ...(title === undefined ? [] : [readableLine(title)]),
    readable(message),
    ...(description === undefined ? [] : [readable(description)]),
    ...general.map(({ path, message: fault }) => `${readableLine(path)} ${readable(fault)}`.trim()),
  ];
  screen.say(lines.join('\n'));
}

async function askWhether(
  screen: Screen,
  { signal, countdown, offersLater = false }: ShowOptions,
): Promise<TerminalAnswer['action']> {
  const chosen = await screen.select(
    {
      label: 'What would you like to do?',
      countdown,
      options: [
        { value: 'accept', label: 'Answer' } as const,
        { value: 'decline', label: 'Decline' } as const,
        ...(offersLater ? [LATER] : []),
      ],
      initial: 'accept' as const,
    },
    signal,
  );
  return chosen === LEFT ? 'cancel' : chosen;
}

async function askForAnswer(
  screen: Screen,
  question: TerminalQuestion,
  { signal, countdown }: ShowOptions,
): Promise<TerminalAnswer> {
  if (question.isSecret === true) {
    const texts = { label: 'Secret', countdown, description: 'It is not shown.' };
    const validate = (text: string) => (text === '' ? 'is required' : undefined);
    const secret = await screen.hidden({ ...texts, validate, takesLines: true }, signal);
    return secret === LEFT ? { action: 'cancel' } : { action: 'accept', secret };
  }
  const { form = { type: 'object', properties: {} }, earlier, faults = [], sensitive = false } = question;
  const fields = {
    schema: form,
    faults,
    sensitive,
    countdown,
    signal,
    ...(earlier !== undefined && { earlier }),
  };
  const content = await askFields(screen, fields);
  return content === LEFT ? { action: 'cancel' } : { action: 'accept', content };
}

async function askToOpen(
  screen: Screen,
  url: string,
  { signal, countdown, offersLater = false, open }: ShowOptions,
): Promise<TerminalAnswer> {
  // The host is shown in Punycode, as it is sent, so that look-alike letters cannot deceive.
  const { host, href } = new URL(url);
  screen.say(`It asks you to open a page of ${host}\n${readableLine(href)}`);
  const chosen = await screen.select(
    {
      label: `Open ${host}?`,
      countdown,
      options: [
        { value: 'open', label: `Yes, open ${host} in the browser` } as const,
        { value: 'accept', label: 'Yes, I open it myself' } as const,
        { value: 'decline', label: 'No' } as const,
        ...(offersLater ? [LATER] : []),
      ],
      initial: 'decline' as const,
    },
    signal,
  );
  if (chosen === LEFT) return { action: 'cancel' };
  if (chosen === 'open') open(href);
  return { action: chosen === 'open' ? 'accept' : chosen };
}
