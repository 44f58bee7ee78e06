import type { Json } from '../state.ts';
import { htmlOf } from './mrkdwn.ts';

/** The element of an input block as HTML. */
export function inputHtml(element: Json): string {
  const { type, multiline, initial_value: initial } = element;
  const preset = typeof initial === 'string' ? initial : '';
  switch (type) {
    case 'plain_text_input':
      return multiline === true
        ? `<div class="field tall">${htmlOf(preset)}</div>`
        : fieldHtml(preset, 'Write something');
    case 'email_text_input':
      return fieldHtml(preset, 'Enter an email address');
    case 'url_text_input':
      return fieldHtml(preset, 'Enter a URL');
    case 'number_input':
      return fieldHtml(preset, 'Enter a number');
    case 'datepicker':
      return fieldHtml(String(element.initial_date ?? ''), 'Select a date', '▦');
    case 'datetimepicker':
      return datetimeHtml(element.initial_date_time);
    case 'radio_buttons':
      return optionsHtml(element, 'radio', [element.initial_option]);
    case 'checkboxes':
      return optionsHtml(element, 'checkbox', listOf(element.initial_options));
    case 'static_select':
      return fieldHtml(labelOf(element.initial_option), 'Select an option', '▾');
    case 'multi_static_select':
      return fieldHtml(listOf(element.initial_options).map(labelOf).join(', '), 'Select options', '▾');
    default:
      throw new Error(`This renderer does not know the input ${String(type)}.`);
  }
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
