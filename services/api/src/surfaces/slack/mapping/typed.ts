/**
 * Reads a typed text as an answer, and the messages about texts that are none. Finding the question is in `listeners/typed.ts`.
 */

import { titleOfTool } from '@parley/core/domain/approvals/tool-title';
import type { Content } from '@parley/core/domain/elicitations/elicitation';
import { controlsOf, type FormChoice, type FormControl } from '@parley/core/domain/forms/controls';
import { readTypedNumber } from '@parley/core/domain/forms/typed-number';
import type { Issue } from '@parley/core/domain/issue';
import { readable } from '@parley/core/domain/readable';
import type { Definition } from '@parley/shared/domain/elicitations/row';
import { storedRecordOf } from '@parley/shared/ports/elicitations/elicitations';
import { textMessage } from './blocks.ts';
import { choicesIn } from './fields.ts';
import type { SlackMessage } from './question.ts';
import { clippedToSize, escaped, lineText } from './text.ts';

const TITLE_MAX = 150;
/** How much of a title, a fault and a button's label fits into the sections of a message. */
const SHOWN_MAX = { title: 300, fault: 2_000, button: 120 } as const;

/** The text that a person typed. */
export interface TypedWords {
  readonly text: string;
  /** The whole address, if the text consists of only a link. */
  readonly link: string | undefined;
}

/**
 * The only control of a form, if text can answer it. Sensitive answers must not be typed into Slack, and lists of several
 * choices cannot be.
 */
export function typedControlOf({
  requestedSchema,
  sensitive,
  answerUrl,
}: Definition): FormControl | undefined {
  const [control, ...others] = controlsOf(requestedSchema);
  if (control?.kind === 'multi' || others.length > 0) return undefined;
  return sensitive === true || answerUrl !== undefined ? undefined : control;
}

/**
 * The answer that a typed text gives; or why it is not one of the choices. Text that is not a number stays text, so that the
 * form refuses it.
 */
export function typedAnswer(
  control: FormControl,
  { text, link }: TypedWords,
): { readonly content: Content } | { readonly fault: string } {
  const { name, kind } = control;
  if (kind === 'number' || kind === 'integer') return { content: { [name]: typedNumber(kind, text) } };
  if (kind !== 'select' && kind !== 'boolean')
    // Slack displays only a part of a long address, so the whole one is used.
    return { content: { [name]: (kind === 'uri' ? link : undefined) ?? text } };
  const choices = choicesIn(control);
  const [chosen, ...others] = meantBy(text, choices);
  if (chosen === undefined || others.length > 0) {
    const fault = chosen === undefined ? 'must be one of the choices' : 'is more than one of the choices';
    return { fault: `${fault}: ${choices.map(({ label }) => lineText(label, TITLE_MAX)).join(', ')}` };
  }
  return { content: { [name]: kind === 'boolean' ? chosen.value === 'true' : chosen.value } };
}

/** The choices that a text may mean. People read titles, so a value counts only if no title matches. */
function meantBy(text: string, choices: readonly FormChoice[]): readonly FormChoice[] {
  const wanted = text.toLowerCase();
  const rules: readonly ((choice: FormChoice) => boolean)[] = [
    ({ label }) => label === text,
    ({ label }) => label.toLowerCase() === wanted,
    ({ value }) => value === text,
    ({ value }) => value.toLowerCase() === wanted,
  ];
  for (const rule of rules) {
    const meant = choices.filter(rule);
    if (meant.length > 0) return meant;
  }
  return [];
}

function typedNumber(kind: 'number' | 'integer', text: string): number | string {
  const number = readTypedNumber('number', text);
  // The check refuses fractions. A number that was rounded to a whole one is passed as text, so that it is refused, too.
  return readTypedNumber(kind, text) ?? (Number.isInteger(number) ? text : (number ?? text));
}

/** An open record, and its message in Slack. */
export interface OpenRecord {
  readonly row: Parameters<typeof storedRecordOf>[0];
  readonly message: SlackMessage;
}

/** The message for a person whose text does not answer their question. */
export function refusedTextMessage(open: OpenRecord, fault: string): SlackMessage {
  return textMessage(
    `Your answer to ${titleOf(open)} ${shown(fault, SHOWN_MAX.fault)}.`,
    `Write another one, or use ${buttonsOf(open)}.`,
  );
}

/** The faults that the form's check found in an answer. */
export function faultText(issues: readonly Issue[]): string {
  return issues.map(({ message }) => readable(message)).join('; ');
}

/** The message for a person who writes although something is open that a message cannot answer. */
export function stillOpenMessage(open: readonly OpenRecord[]): SlackMessage {
  const what =
    open.length === 1
      ? 'This still waits for you, and your message does not answer it.'
      : 'These still wait for you, and your message does not answer them.';
  return textMessage(what, ...open.map((one) => `${titleOf(one)}: use ${buttonsOf(one)}.`));
}

function titleOf({ row }: OpenRecord): string {
  const record = storedRecordOf(row);
  if (record.family === 'elicitation') {
    const { title, message } = record.row.definition;
    return `“${shown(lineText(title || message, TITLE_MAX), SHOWN_MAX.title)}”`;
  }
  const { tool } = record.row.definition;
  return `the approval of “${shown(lineText(titleOfTool(tool), TITLE_MAX), SHOWN_MAX.title)}”`;
}

/** The buttons of a message, by their labels. */
function buttonsOf({ message }: OpenRecord): string {
  const labels = message.blocks
    .flatMap((block) => (block.type === 'actions' ? block.elements : []))
    .flatMap((element) =>
      element.type === 'button' ? [`*${shown(element.text.text, SHOWN_MAX.button)}*`] : [],
    );
  return `${labels.slice(0, -1).join(', ')}${labels.length > 1 ? ' or ' : ''}${labels.at(-1) ?? 'its page'}`;
}

/** The beginning of a text from others, as mrkdwn. */
function shown(text: string, most: number): string {
  return escaped(clippedToSize(text, most));
}
