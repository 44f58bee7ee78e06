import type { Content } from '@parley/shared/domain/elicitations/elicitation';
import type { Definition } from '@parley/shared/domain/elicitations/row';
import { readTypedNumber } from '@parley/shared/domain/forms/typed-number';
import type { FormField } from '@parley/shared/domain/forms/value';
import type { Issue } from '@parley/shared/domain/issue';
import { readable } from '@parley/shared/domain/readable';
import { storedRecordOf } from '@parley/shared/ports/elicitations/elicitations';
import { mrkdwn } from './blocks.ts';
import { choicesOf } from './fields.ts';
import type { SlackMessage } from './question.ts';
import { clipped, escaped, lineText } from './text.ts';

const TITLE_MAX = 150;
const CHOICES_MAX = 1_000;

/** A field with its name in the answer. */
interface TypedField {
  readonly name: string;
  readonly field: FormField;
}

/** What a person has typed. */
export interface TypedWords {
  readonly text: string;
  /** The whole address, where the words are a link and nothing else. */
  readonly link: string | undefined;
}

/** The only field of a form, if a text can answer it. A sensitive answer is not typed into Slack, and no list of choices. */
export function typedFieldOf({ requestedSchema, sensitive, answerUrl }: Definition): TypedField | undefined {
  const [[name, field] = [], ...others] = Object.entries(requestedSchema?.properties ?? {});
  if (name === undefined || field === undefined || field.type === 'array') return undefined;
  if (others.length > 0 || sensitive === true || answerUrl !== undefined) return undefined;
  return { name, field };
}

/** The answer that a typed text is. One that fits no choice, or is no number, is left as it is: the form refuses it. */
export function typedContent({ name, field }: TypedField, { text, link }: TypedWords): Content {
  const choices = choicesOf(field);
  if (field.type === 'number' || field.type === 'integer') return { [name]: typedNumber(field.type, text) };
  if (choices === undefined) return { [name]: addressOf(field, link) ?? text };
  const wanted = text.toLowerCase();
  const exact = choices.filter((one) => one.title === text || one.const === text);
  const [chosen, ...others] =
    exact.length > 0
      ? exact
      : choices.filter((one) => one.title.toLowerCase() === wanted || one.const.toLowerCase() === wanted);
  const value = chosen === undefined || others.length > 0 ? text : chosen.const;
  return { [name]: field.type === 'boolean' && chosen !== undefined ? value === 'true' : value };
}

/** The whole address for a field that takes one: Slack shows people a part of it. */
function addressOf(field: FormField, link: string | undefined): string | undefined {
  return 'format' in field && field.format === 'uri' ? link : undefined;
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
  { field }: TypedField,
  issues: readonly Issue[],
): SlackMessage {
  const choices = choicesOf(field)?.map(({ title }) => lineText(title, TITLE_MAX));
  const fault =
    choices === undefined
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
