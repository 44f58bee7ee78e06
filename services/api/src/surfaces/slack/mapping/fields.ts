/** Draws the controls of a form as Slack inputs. Pure; reading the answers is in `answer.ts`. */

import type { FormChoice, FormControl } from '@parley/core/domain/forms/controls';
import { hintOf } from '@parley/core/domain/forms/hint';
import type { InputBlock, PlainTextElement, PlainTextOption } from '@slack/types';
import { SLACK_MAX, slackNumber, slackSeconds } from './limits.ts';
import { FIELD_ACTION, fieldBlockId } from './names.ts';
import { clipped, lineText } from './text.ts';

const YES_NO: readonly FormChoice[] = [
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
];

/** True if a modal can show all of these controls, each with its initial value and an input for every valid value. */
export function areShowable(controls: readonly FormControl[]): boolean {
  if (!controls.every(isShowable)) return false;
  return Buffer.byteLength(JSON.stringify(controls.map(inputOf))) <= SLACK_MAX.inputsJson;
}

function isShowable(control: FormControl): boolean {
  const { kind, initial, least = 0 } = control;
  const typed = typeof initial === 'string' ? initial : '';
  switch (kind) {
    case 'boolean':
      return true;
    case 'select':
    case 'multi': {
      const labels = new Set(control.choices.map(({ label }) => lineText(label, SLACK_MAX.optionText)));
      // Choices with equal labels could not be distinguished.
      return labels.size > 0 && labels.size <= SLACK_MAX.options && labels.size === control.choices.length;
    }
    case 'number':
    case 'integer':
      return initial === undefined || slackNumber(Number(initial)) !== undefined;
    case 'date-time':
      return typed === '' || slackSeconds(typed) !== undefined;
    default:
      return least <= SLACK_MAX.text && typed.length <= SLACK_MAX.text;
  }
}

/** The choices of a control: those of a select, or yes and no. */
export function choicesIn({ kind, choices }: FormControl): readonly FormChoice[] {
  return kind === 'boolean' ? YES_NO : choices;
}

/** One control as an input of a modal. */
export function inputOf(control: FormControl, index: number): InputBlock {
  const { kind, label, description, isRequired, least, initial } = control;
  const bounds = hintOf(control);
  const hint =
    description === undefined || bounds === undefined
      ? (description ?? bounds)
      : `${description} (${bounds})`;
  return {
    type: 'input',
    block_id: fieldBlockId(index),
    label: plain(lineText(label, SLACK_MAX.label)),
    ...(hint !== undefined && { hint: plain(clipped(hint, SLACK_MAX.label)) }),
    // An empty answer is valid for a list without a minimum, and for a default that is an empty text.
    optional: !isRequired || (kind === 'multi' && least === undefined) || (kind === 'text' && initial === ''),
    element: { ...elementOf(control), action_id: FIELD_ACTION },
  };
}

export function plain(text: string): PlainTextElement {
  return { type: 'plain_text', text, emoji: false };
}

function elementOf(control: FormControl): InputBlock['element'] {
  const { kind, initial } = control;
  const typed = typeof initial === 'string' && initial !== '' ? initial : undefined;
  const preset = typed === undefined ? {} : { initial_value: typed };
  switch (kind) {
    case 'multi':
      return severalOf(control);
    case 'select':
    case 'boolean':
      return oneOf(control);
    case 'number':
    case 'integer':
      return numberInput(control);
    case 'email':
      return { type: 'email_text_input', ...preset };
    case 'uri':
      return { type: 'url_text_input', ...preset };
    case 'date':
      return { type: 'datepicker', ...(typed !== undefined && { initial_date: typed }) };
    case 'date-time': {
      const seconds = typed === undefined ? undefined : slackSeconds(typed);
      return { type: 'datetimepicker', ...(seconds !== undefined && { initial_date_time: seconds }) };
    }
    case 'text': {
      const { least, most = SLACK_MAX.text, hasLines } = control;
      return {
        type: 'plain_text_input',
        multiline: hasLines,
        // Schemas count code points, while Slack counts UTF-16 units.
        max_length: Math.max(1, typed?.length ?? 0, Math.min(most, SLACK_MAX.text)),
        ...(least !== undefined && { min_length: Math.min(least, SLACK_MAX.text) }),
        ...preset,
      };
    }
  }
}

/** Bounds that Slack refuses are omitted, because the answer is checked anyway. */
function numberInput({ kind, least, most, initial }: FormControl): InputBlock['element'] {
  const texts = [least, most, initial].map((one) => (one === undefined ? one : slackNumber(Number(one))));
  const [min, max, preset] = texts;
  return {
    type: 'number_input',
    is_decimal_allowed: kind === 'number',
    ...(min !== undefined && { min_value: min }),
    ...(max !== undefined && { max_value: max }),
    ...(preset !== undefined && { initial_value: preset }),
  };
}

function oneOf(control: FormControl): InputBlock['element'] {
  const choices = choicesIn(control);
  const options = choices.map(optionOf);
  const chosen = options[choices.findIndex(({ value }) => value === String(control.initial))];
  const preset = chosen !== undefined && control.initial !== undefined ? { initial_option: chosen } : {};
  return options.length <= SLACK_MAX.buttons
    ? { type: 'radio_buttons', options, ...preset }
    : { type: 'static_select', options, ...preset };
}

function severalOf({ choices, initial, most }: FormControl): InputBlock['element'] {
  const options = choices.map(optionOf);
  const chosen = options.filter((_, index) => [initial].flat().includes(choices[index]?.value));
  const preset = chosen.length === 0 ? {} : { initial_options: chosen };
  if (options.length <= SLACK_MAX.buttons) return { type: 'checkboxes', options, ...preset };
  const selectable = most !== undefined && most > 0 ? { max_selected_items: most } : {};
  return { type: 'multi_static_select', options, ...preset, ...selectable };
}

/** An option. Its value is its index, because values in a schema may be longer than Slack allows. */
function optionOf({ label }: FormChoice, index: number): PlainTextOption {
  return { text: plain(lineText(label, SLACK_MAX.optionText)), value: String(index) };
}
