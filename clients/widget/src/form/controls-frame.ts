import { html, nothing, type TemplateResult } from 'lit';
import { readable } from '../card/text.ts';
import type { Strings } from '../strings/strings.ts';
import type { Draft, Field } from './fields.ts';

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

/** What stands around a control, besides what the field itself says. */
interface Surroundings {
  /** A group of several controls, and of which role. */
  readonly group?: 'group' | 'radiogroup';
  /** What the form itself says of the field. */
  readonly hint?: string | undefined;
  /** How much more can be written. */
  readonly room?: string | undefined;
  /** The control holds the field's name itself. */
  readonly isNamed?: boolean;
}

/** A text as nothing but text, in a direction of its own; it begins where all others begin. */
export function words(text: string): TemplateResult {
  return html`<bdi>${readable(text)}</bdi>`;
}

/**
 * A control with all that explains it: the field's name, and in words whether it is needed; what the asker and the
 * form say of it; why it was not taken. `draw` gets the ids of what explains it, what is wrong with it first.
 */
export function frame(
  { field, id, error, strings }: Control,
  { group, hint, room, isNamed }: Surroundings,
  draw: (describedBy: string | typeof nothing) => TemplateResult,
): TemplateResult {
  const parts = { error, help: field.description, hint, room };
  const shown = Object.entries(parts).filter(([, text]) => text !== undefined);
  const describedBy = shown.map(([part]) => `${id}-${part}`).join(' ') || nothing;
  const help = (part: keyof typeof parts) => {
    const text = parts[part];
    return text === undefined
      ? nothing
      : html`<p class=${part} part=${part} id="${id}-${part}">${words(text)}</p>`;
  };
  const name = html`<label class="name" for=${group ? nothing : id} id="${id}-name">${words(field.label)}${
    field.required ? html`<span class="quiet"> (${strings.requiredMark})</span>` : nothing
  }</label>`;
  // A plain group can be marked neither as required nor as invalid; there the words and each box say it.
  const isOneOf = group === 'radiogroup';
  return html`<div
    class="field"
    part="field"
    role=${group ?? nothing}
    aria-labelledby=${group ? `${id}-name` : nothing}
    aria-required=${isOneOf ? field.required : nothing}
    aria-invalid=${isOneOf ? error !== undefined : nothing}
    aria-describedby=${group ? describedBy : nothing}
  >
    ${isNamed ? nothing : name}${isNamed ? nothing : help('help')}${help('hint')}
    ${draw(group ? nothing : describedBy)}
    ${isNamed ? help('help') : nothing}${help('room')}${help('error')}
  </div>`;
}
