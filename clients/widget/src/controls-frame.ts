import { html, nothing, type TemplateResult } from 'lit';
import { readable } from './card-text.ts';
import type { Draft, Field } from './fields.ts';
import type { Strings } from './strings.ts';

/** What a control is drawn from, and where it puts what the person does. */
export interface Control<F extends Field = Field> {
  readonly field: F;
  /** Its id within the form, which the ids of its parts begin with. */
  readonly id: string;
  readonly draft: Draft;
  /** Why it was not taken, in the person's language. */
  readonly error: string | undefined;
  readonly strings: Strings;
  /** The browser is neither to keep what is typed nor to send it to anyone who checks spelling. */
  readonly isSensitive: boolean;
  change(draft: Draft): void;
}

/** A template, or nothing to show. */
export type Shown = TemplateResult | typeof nothing;

/** A text as nothing but text, in a direction of its own; it begins where all others begin. */
export function words(text: string): TemplateResult {
  return html`<bdi>${readable(text)}</bdi>`;
}

/** The field's name, and in words whether it is needed. */
export function nameOf({ field, strings }: Control): TemplateResult {
  const mark = field.required ? html`<span class="mark"> (${strings.requiredMark})</span>` : nothing;
  return html`${words(field.label)}${mark}`;
}

/** What the asker says of the field. */
export function helpOf({ field, id }: Control): Shown {
  if (field.description === undefined) return nothing;
  return html`<p class="help" id="${id}-help">${words(field.description)}</p>`;
}

/** What the form itself says of the field. */
export function hintOf({ id }: Control, hint: string | undefined): Shown {
  return hint === undefined ? nothing : html`<p class="help" id="${id}-hint">${words(hint)}</p>`;
}

export function errorOf({ id, error }: Control): Shown {
  return error === undefined
    ? nothing
    : html`<p class="error" part="error" id="${id}-error">${words(error)}</p>`;
}

/** The ids of all that explains a control, what is wrong with it first. */
export function describedBy(
  control: Control,
  hint: string | undefined,
  room?: string,
): string | typeof nothing {
  const parts = { error: control.error, help: control.field.description, hint, room };
  const shown = Object.entries(parts).filter(([, text]) => text !== undefined);
  return shown.map(([part]) => `${control.id}-${part}`).join(' ') || nothing;
}

/** The id of what is wrong, for each part of a control that has several. */
export function errorId({ id, error }: Control): string | typeof nothing {
  return error === undefined ? nothing : `${id}-error`;
}

export function isInvalid({ error }: Control): 'true' | typeof nothing {
  return error === undefined ? nothing : 'true';
}
