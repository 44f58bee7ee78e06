import { isRecord, own } from '@parley/shared/domain/plain-record';
import {
  html,
  nothing,
  type ReactiveController,
  type ReactiveControllerHost,
  type TemplateResult,
} from 'lit';
import { controlOf } from './controls.ts';
import { needsChoice } from './controls-choice.ts';
import { words } from './controls-frame.ts';
import { type FieldFault, faultOfDraft, readDrafts } from './drafts.ts';
import { type Draft, type Field, fieldsOf, type TextLike } from './fields.ts';
import { type Strings, stringsFor } from './strings.ts';

/** What the form is for, besides its schema. */
export interface FormPurpose {
  /** Whose form it is: another id empties it, though the schema be the same. */
  readonly elicitationId?: string | undefined;
  /** Its answer is to be kept from others, so the browser neither keeps it nor has its spelling checked. */
  readonly isSensitive?: boolean | undefined;
}

/** What the person sent, or nothing, with the faults on show. */
export type Submission =
  | { readonly ok: true; readonly content: Record<string, unknown> }
  | { readonly ok: false };

/**
 * The form of a question: draws the controls into the card and keeps what was typed, in memory only, until another
 * question comes. Enter in a single line calls `onSubmit`, as the card's own button does.
 */
export class FormView implements ReactiveController {
  readonly #host: ReactiveControllerHost & HTMLElement;
  readonly #onSubmit: () => void;
  #strings: Strings = stringsFor('en');
  #key = '';
  #fields: readonly Field[] = [];
  #heading: { readonly title?: string; readonly description?: string } = {};
  #isSensitive = false;
  readonly #drafts = new Map<string, Draft>();
  /** By field name; a text is the server's. */
  readonly #faults = new Map<string, FieldFault | string>();
  #isDisabled = false;
  #isFaultDue = false;
  /** Where the person was when the form was disabled, which takes the focus away. */
  #left: HTMLElement | undefined;

  constructor(host: ReactiveControllerHost & HTMLElement, onSubmit: () => void) {
    this.#host = host;
    this.#onSubmit = onSubmit;
    host.addController(this);
  }

  /** Takes a `requestedSchema`; what was typed stays when the same one comes again. */
  setSchema(schema: unknown, { elicitationId, isSensitive = false }: FormPurpose = {}): void {
    this.#isSensitive = isSensitive;
    const key = JSON.stringify([elicitationId, schema]);
    if (key === this.#key) return;
    this.#key = key;
    this.#fields = fieldsOf(schema);
    this.#heading = headingOf(schema);
    this.clear();
  }

  setStrings(strings: Strings): void {
    this.#strings = strings;
  }

  /** Forgets what was typed, and all faults. */
  clear(): void {
    this.#drafts.clear();
    this.#faults.clear();
    this.#isFaultDue = false;
    this.#left = undefined;
    for (const field of this.#fields) if (isUnsaid(field)) this.#drafts.set(field.name, undefined);
    // Half a date is in no draft, and what is typed next is not meant for the next question.
    this.#root.querySelector('form')?.reset();
    focusedIn(this.#root)?.blur();
    this.#host.requestUpdate();
  }

  /** Whether anything was typed or chosen that clearing the form would lose. */
  get isDirty(): boolean {
    return this.#fields.some((field) => {
      const first = isUnsaid(field) ? undefined : field.initial;
      return JSON.stringify(this.#draftOf(field) ?? '') !== JSON.stringify(first ?? '');
    });
  }

  /** How many fields have a fault on show. */
  get faultCount(): number {
    return this.#faults.size;
  }

  /** The content to send; or shows every fault and focuses the first. */
  submit(): Submission {
    const reading = readDrafts(this.#fields, this.#drafts);
    const halves = this.#fields.filter((field) => this.#isHalfTyped(field));
    this.#faults.clear();
    if (reading.ok && halves.length === 0) {
      this.#host.requestUpdate();
      return reading;
    }
    if (!reading.ok) for (const [name, fault] of reading.faults) this.#faults.set(name, fault);
    for (const { name, kind } of halves) this.#faults.set(name, { rule: 'format', format: kind });
    this.focusFirstInvalid();
    return { ok: false };
  }

  /** Shows the server's faults at their fields, and moves to none. Returns those that belong to no field. */
  showErrors(errors: readonly { readonly path: string; readonly message: string }[]): readonly string[] {
    this.#faults.clear();
    const strays: string[] = [];
    for (const { path, message } of errors) {
      if (this.#fields.some(({ name }) => name === path)) this.#faults.set(path, message);
      else strays.push(path === '' ? message : `${path}: ${message}`);
    }
    this.#host.requestUpdate();
    return strays;
  }

  /** Moves to the first field with a fault, as soon as it is drawn and can be changed. */
  focusFirstInvalid(): void {
    this.#isFaultDue = this.#faults.size > 0;
    this.#host.requestUpdate();
  }

  hostUpdated(): void {
    const form = this.#root.querySelector('.form');
    if (form === null || this.#isDisabled) return;
    const left = this.#left;
    this.#left = undefined;
    if (this.#isFaultDue) {
      this.#isFaultDue = false;
      focusInvalid(form);
    } else if (left?.isConnected && isNowhere(this.#root)) left.focus();
  }

  render(disabled: boolean): TemplateResult {
    if (disabled && !this.#isDisabled) this.#left = focusedIn(this.#root);
    this.#isDisabled = disabled;
    const { title, description } = this.#heading;
    // The button is there for Enter alone, which needs one; browsers pass over those that are not drawn at all.
    return html`<form novalidate @submit=${this.#submitted}>
      <fieldset class="form" part="fields" role="presentation" ?disabled=${disabled}>
        ${title ? html`<p class="form-title">${words(title)}</p>` : nothing}
        ${description ? html`<p>${words(description)}</p>` : nothing}
        ${this.#fields.map((field, at) => this.#control(field, idAt(at)))}
        <button class="enter" tabindex="-1" aria-hidden="true"></button>
      </fieldset>
    </form>`;
  }

  // What refers to ids has to be in their tree.
  get #root(): ShadowRoot | HTMLElement {
    return this.#host.shadowRoot ?? this.#host;
  }

  readonly #submitted = (event: Event): void => {
    event.preventDefault();
    if (!this.#isDisabled) this.#onSubmit();
  };

  #control(field: Field, id: string): TemplateResult {
    return controlOf({
      field,
      id,
      draft: this.#draftOf(field),
      error: this.#errorOf(field),
      strings: this.#strings,
      isSensitive: this.#isSensitive,
      change: (draft) => this.#change(field, draft),
    });
  }

  #draftOf({ name, initial }: Field): Draft {
    return this.#drafts.has(name) ? this.#drafts.get(name) : initial;
  }

  #errorOf(field: Field): string | undefined {
    const fault = this.#faults.get(field.name);
    if (fault === undefined) return undefined;
    if (typeof fault === 'string') return this.#strings.serverFault(fault);
    // Nothing is filled in where one picks.
    const isPicked = fault.rule === 'required' && PICKED.includes(field.kind);
    return this.#strings.fault(isPicked ? { rule: 'choice' } : fault);
  }

  #change(field: Field, draft: Draft): void {
    this.#drafts.set(field.name, draft);
    if (this.#faults.delete(field.name)) {
      const fault = faultOfDraft(field, draft);
      if (fault !== undefined) this.#faults.set(field.name, fault);
    }
    this.#host.requestUpdate();
  }

  /** Half a date is no value to the browser, and would go out as none without a word. */
  #isHalfTyped(field: Field): field is TextLike & { readonly kind: 'date' | 'date-time' } {
    if (field.kind !== 'date' && field.kind !== 'date-time') return false;
    const entry = this.#root.querySelector(`#${idAt(this.#fields.indexOf(field))}`);
    return entry instanceof HTMLInputElement && entry.validity.badInput;
  }
}

const PICKED: readonly Field['kind'][] = ['boolean', 'select', 'multi'];

function idAt(at: number): string {
  return `field-${at}`;
}

function headingOf(schema: unknown): { title?: string; description?: string } {
  if (!isRecord(schema)) return {};
  const [title, description] = [own(schema, 'title'), own(schema, 'description')];
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
  };
}

/** A yes or no that has to be said begins with neither. */
function isUnsaid(field: Field): boolean {
  return field.kind === 'boolean' && needsChoice(field);
}

function focusInvalid(form: Element): void {
  const found = form.querySelector<HTMLElement>('[aria-invalid="true"]');
  const choice =
    found?.querySelector<HTMLElement>('input:checked') ?? found?.querySelector<HTMLElement>('input');
  // The whole field first, with its name and what is wrong; then the control, which counts most.
  found?.closest('.field')?.scrollIntoView({ block: 'nearest' });
  (choice ?? found)?.focus();
}

function focusedIn(root: ShadowRoot | HTMLElement): HTMLElement | undefined {
  const focused = (root instanceof ShadowRoot ? root : document).activeElement;
  return focused instanceof HTMLElement && focused.closest('.form') !== null ? focused : undefined;
}

/** Whether the focus went to nobody, or to what takes it from scripts alone. */
function isNowhere(root: ShadowRoot | HTMLElement): boolean {
  const { activeElement } = root instanceof ShadowRoot ? root : document;
  if (activeElement instanceof HTMLElement && activeElement !== document.body)
    return activeElement.tabIndex < 0;
  return [null, document.body, root.getRootNode()].includes(document.activeElement);
}
