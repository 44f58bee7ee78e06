import type { FormControl } from '@parley/core/domain/forms/controls';
import { readable } from '@parley/core/domain/readable';
import { html, nothing, type TemplateResult } from 'lit';
import type { Strings } from '../strings/strings.ts';
import type { Draft } from './drafts.ts';

/** Everything from which a control is rendered, and the function that takes its changes. */
export interface Control {
  readonly field: FormControl;
  /** The control's id within the form, with which the ids of its parts begin. */
  readonly id: string;
  readonly draft: Draft;
  /** The error message, in the person's language. */
  readonly error: string | undefined;
  readonly strings: Strings;
  /** True if the browser must neither store what is typed nor send it to a spelling checker. */
  readonly isSensitive: boolean;
  change(draft: Draft): void;
}

/** What is displayed around a control, in addition to the field's own texts. */
interface FrameOptions {
  /** The role of a group of several controls. */
  readonly group?: 'group' | 'radiogroup';
  /** The form's own description of the field. */
  readonly hint?: string | undefined;
  /** How many more characters are allowed. */
  readonly room?: string | undefined;
  /** True if the control itself contains the field's name. */
  readonly isNamed?: boolean;
}

/** A text without mark-up, isolated so that its direction does not affect the text around it. */
export function plainText(text: string): TemplateResult {
  return html`<bdi>${readable(text)}</bdi>`;
}

/**
 * A control with the field's name (and whether it is required), the descriptions from the asker and the form, and its error.
 * `render` gets the ids of the descriptions, beginning with that of the error.
 */
export function frame(
  { field, id, error, strings }: Control,
  { group, hint, room, isNamed }: FrameOptions,
  render: (describedBy: string | typeof nothing) => TemplateResult,
): TemplateResult {
  const parts = { error, help: field.description, hint, room };
  const shown = Object.entries(parts).filter(([, text]) => text !== undefined);
  const describedBy = shown.map(([part]) => `${id}-${part}`).join(' ') || nothing;
  const help = (part: keyof typeof parts) => {
    const text = parts[part];
    return text === undefined
      ? nothing
      : html`<p class=${part} part=${part} id="${id}-${part}">${plainText(text)}</p>`;
  };
  const name = html`<label class="name" for=${group ? nothing : id} id="${id}-name">${plainText(field.label)}${
    field.isRequired ? html`<span class="quiet"> (${strings.requiredMark})</span>` : nothing
  }</label>`;
  // ARIA allows neither required nor invalid on a plain group; there, the texts and each checkbox say it.
  const isRadioGroup = group === 'radiogroup';
  return html`<div
    class="field"
    part="field"
    role=${group ?? nothing}
    aria-labelledby=${group ? `${id}-name` : nothing}
    aria-required=${isRadioGroup ? field.isRequired : nothing}
    aria-invalid=${isRadioGroup ? error !== undefined : nothing}
    aria-describedby=${group ? describedBy : nothing}
  >
    ${isNamed ? nothing : name}${isNamed ? nothing : help('help')}${help('hint')}
    ${render(group ? nothing : describedBy)}
    ${isNamed ? help('help') : nothing}${help('room')}${help('error')}
  </div>`;
}
