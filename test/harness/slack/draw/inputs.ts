import type { Json } from '../state.ts';
import { htmlOf } from './mrkdwn.ts';

const DRAWN: Readonly<Record<string, (element: Json) => string>> = {
  plain_text_input: ({ multiline, initial_value }) =>
    multiline === true
      ? `<div class="field tall">${htmlOf(presetOf(initial_value))}</div>`
      : fieldHtml(presetOf(initial_value), 'Write something'),
  email_text_input: ({ initial_value }) => fieldHtml(presetOf(initial_value), 'Enter an email address'),
  url_text_input: ({ initial_value }) => fieldHtml(presetOf(initial_value), 'Enter a URL'),
  number_input: ({ initial_value }) => fieldHtml(presetOf(initial_value), 'Enter a number'),
  datepicker: ({ initial_date }) => fieldHtml(presetOf(initial_date), 'Select a date', '▦'),
  datetimepicker: ({ initial_date_time }) => datetimeHtml(initial_date_time),
  radio_buttons: (element) => optionsHtml(element, 'radio', [element.initial_option]),
  checkboxes: (element) => optionsHtml(element, 'checkbox', listOf(element.initial_options)),
  static_select: ({ initial_option }) => fieldHtml(labelOf(initial_option), 'Select an option', '▾'),
  multi_static_select: ({ initial_options }) =>
    fieldHtml(listOf(initial_options).map(labelOf).join(', '), 'Select options', '▾'),
};

/** The element of an input block as HTML. */
export function inputHtml(element: Json): string {
  const draw = DRAWN[String(element.type)];
  if (draw === undefined) throw new Error(`This renderer does not know the input ${String(element.type)}.`);
  return draw(element);
}

function presetOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function fieldHtml(value: string, placeholder: string, mark = ''): string {
  const text = value === '' ? `<span class="placeholder">${placeholder}</span>` : htmlOf(value);
  return `<div class="field">${text}<span class="mark">${mark}</span></div>`;
}

function datetimeHtml(seconds: unknown): string {
  const text = typeof seconds === 'number' ? new Date(seconds * 1_000).toISOString().slice(0, 16) : '';
  const [date = '', time = ''] = text.split('T');
  return `<div class="pair">${fieldHtml(date, 'Select a date', '▦')}${fieldHtml(time, 'Select a time', '▾')}</div>`;
}

function optionsHtml({ options }: Json, kind: string, initial: readonly unknown[]): string {
  const chosen = initial.map((option) => JSON.stringify(option));
  return listOf(options)
    .map((option) => {
      const isChosen = chosen.includes(JSON.stringify(option));
      return `<div class="option"><input type="${kind}" ${isChosen ? 'checked' : ''} />${htmlOf(labelOf(option))}</div>`;
    })
    .join('');
}

function labelOf(option: unknown): string {
  return String((option as { readonly text?: Json } | undefined)?.text?.text ?? '');
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
