import type { Content } from '@parley/shared/domain/elicitations/elicitation';
import type { Definition } from '@parley/shared/domain/elicitations/row';
import { controlsOf, type FormControl } from '@parley/shared/domain/forms/controls';
import { readTypedNumber } from '@parley/shared/domain/forms/typed-number';
import type { Issue } from '@parley/shared/domain/issue';
import { readable } from '@parley/shared/domain/readable';
import { storedRecordOf } from '@parley/shared/ports/elicitations/elicitations';
import { mrkdwn } from './blocks.ts';
import { choicesIn } from './fields.ts';
import type { SlackMessage } from './question.ts';
import { clipped, escaped, lineText } from './text.ts';

const TITLE_MAX = 150;
const CHOICES_MAX = 1_000;

/** What a person has typed. */
export interface TypedWords {
  readonly text: string;
  /** The whole address, where the words are a link and nothing else. */
  readonly link: string | undefined;
}

/** The only control of a form, if a text can answer it. A sensitive answer is not typed into Slack, and no list of choices. */
export function typedControlOf({
  requestedSchema,
  sensitive,
  answerUrl,
}: Definition): FormControl | undefined {
  const [control, ...others] = controlsOf(requestedSchema);
  if (control?.kind === 'multi' || others.length > 0) return undefined;
  return sensitive === true || answerUrl !== undefined ? undefined : control;
}

/** The answer that a typed text is. One that fits no choice, or is no number, is left as it is: the form refuses it. */
export function typedContent(control: FormControl, { text, link }: TypedWords): Content {
  const { name, kind } = control;
  if (kind === 'number' || kind === 'integer') return { [name]: typedNumber(kind, text) };
  // Slack shows people a part of an address.
  if (kind !== 'select' && kind !== 'boolean') return { [name]: (kind === 'uri' ? link : undefined) ?? text };
  const choices = choicesIn(control);
  const wanted = text.toLowerCase();
  const exact = choices.filter((one) => one.label === text || one.value === text);
  const [chosen, ...others] =
    exact.length > 0
      ? exact
      : choices.filter((one) => one.label.toLowerCase() === wanted || one.value.toLowerCase() === wanted);
  const value = chosen === undefined || others.length > 0 ? text : chosen.value;
  return { [name]: kind === 'boolean' && chosen !== undefined ? value === 'true' : value };
}

function typedNumber(kind: 'number' | 'integer', text: string): number | string {
  const number = readTypedNumber('number', text);
  // A fraction is for the check to refuse, unless it was rounded away.
  return readTypedNumber(kind, text) ?? (Number.isInteger(number) ? text : (number ?? text));
}

/** Something open, and its message in Slack. */
export interface OpenRecord {
  readonly row: Parameters<typeof storedRecordOf>[0];
  readonly message: SlackMessage;
}

/** What a person reads whose text is no answer to their question. */
export function refusedTextMessage(
  open: OpenRecord,
  control: FormControl,
  issues: readonly Issue[],
): SlackMessage {
  const choices = choicesIn(control).map(({ label }) => lineText(label, TITLE_MAX));
  const fault =
    choices.length === 0
      ? issues.map(({ message }) => readable(message)).join('; ')
      : clipped(`must be one of the choices: ${choices.join(', ')}`, CHOICES_MAX);
  return textMessage(
    `Your answer to ${titleOf(open)} ${escaped(fault)}. Write another one, or use ${buttonsOf(open)}.`,
  );
}

/** What a person reads who writes where something open cannot be answered by a text. */
export function stillOpenMessage(open: readonly OpenRecord[]): SlackMessage {
  const lines = open.map((one) => `${titleOf(one)}: use ${buttonsOf(one)}.`);
  const what = open.length === 1 ? 'This still waits for you' : 'These still wait for you';
  return textMessage(`${what}, and a text does not answer it.\n${lines.join('\n')}`);
}

function titleOf({ row }: OpenRecord): string {
  const record = storedRecordOf(row);
  if (record.family === 'elicitation') {
    const { title, message } = record.row.definition;
    return `“${escaped(lineText(title || message, TITLE_MAX))}”`;
  }
  const { tool } = record.row.definition;
  return `the approval of “${escaped(lineText(tool.title || tool.name, TITLE_MAX))}”`;
}

/** The buttons of a message, by what stands on them. */
function buttonsOf({ message }: OpenRecord): string {
  const labels = message.blocks
    .flatMap((block) => (block.type === 'actions' ? block.elements : []))
    .flatMap((element) => (element.type === 'button' ? [`*${escaped(element.text.text)}*`] : []));
  return `${labels.slice(0, -1).join(', ')}${labels.length > 1 ? ' or ' : ''}${labels.at(-1) ?? 'its page'}`;
}

function textMessage(text: string): SlackMessage {
  return { text, blocks: [mrkdwn(text)] };
}
