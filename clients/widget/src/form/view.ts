import { isRecord, own } from '@parley/shared/domain/plain-record';
import { html, nothing, type ReactiveControllerHost, type TemplateResult } from 'lit';
import type { Strings } from '../strings/strings.ts';
import { controlOf } from './controls.ts';
import { words } from './controls-frame.ts';
import { type FieldFault, faultOfDraft, readDrafts } from './drafts.ts';
import { type Draft, type Field, fieldsOf, type TextLike } from './fields.ts';

/** What the form is for, besides its schema. */
export interface FormPurpose {
  /** Whose form it is: another id empties it, though the schema be the same. */
  readonly elicitationId?: string | undefined;
  /** Its answer is to be kept from others, so the browser neither keeps it nor has its spelling checked. */
  readonly isSensitive?: boolean | undefined;
}

export interface FormEvents {
  /** Enter in a single line does what the card's own button does. */
  onSubmit(): void;
  /** Something was typed or chosen. */
  onChange?(): void;
}

/** What the person sent, or nothing, with the faults on show. */
export type Submission =
  | { readonly ok: true; readonly content: Record<string, unknown> }
  | { readonly ok: false };

/**
 * The form of a question: draws the controls into the card and keeps what was typed, in memory only, until another
 * question comes.
 */
export class FormView {
  readonly #host: ReactiveControllerHost & HTMLElement;
  readonly #events: FormEvents;
  #key = '';
  #schema: unknown;
  #fields: readonly Field[] = [];
  #isSensitive = false;
  readonly #drafts = new Map<string, Draft>();
  /** By field name; a text is the server's. */
  readonly #faults = new Map<string, FieldFault | string>();
  #isHeld = false;

  constructor(host: ReactiveControllerHost & HTMLElement, events: FormEvents) {
    this.#host = host;
    this.#events = events;
  }

  /** Takes a `requestedSchema`; what was typed stays when the same one comes again. */
  setSchema(schema: unknown, { elicitationId, isSensitive = false }: FormPurpose = {}): void {
    this.#isSensitive = isSensitive;
    const key = JSON.stringify([elicitationId, schema]);
    if (key === this.#key) return;
    this.clear();
    this.#key = key;
    this.#schema = schema;
    this.#fields = fieldsOf(schema);
  }

  /** Forgets the question, what was typed, and all faults. */
  clear(): void {
    this.#key = '';
    this.#fields = [];
    this.#drafts.clear();
    this.#faults.clear();
    // Half a date is in no draft, and what is typed next is not meant for the next question.
    this.#root.querySelector('form')?.reset();
    const { activeElement } = this.#root;
    if (activeElement instanceof HTMLElement && activeElement.closest('.form') !== null) activeElement.blur();
    this.#host.requestUpdate();
  }

  /** Whether anything was typed or chosen that clearing the form would lose. */
  get isDirty(): boolean {
    return this.#drafts.size > 0 || this.#fields.some((field) => this.#isHalfTyped(field));
  }

  /** The content to send; or shows every fault and focuses the first. */
  submit(): Submission {
    const reading = readDrafts(this.#fields, this.#drafts);
    const halves = this.#fields.filter((field) => this.#isHalfTyped(field));
    this.#faults.clear();
    if (!reading.ok) for (const [name, fault] of reading.faults) this.#faults.set(name, fault);
    for (const { name, kind } of halves) this.#faults.set(name, { rule: 'format', format: kind });
    this.#host.requestUpdate();
    if (reading.ok && halves.length === 0) return reading;
    void this.#focusFirstInvalid();
    return { ok: false };
  }

  /**
   * Shows the server's faults at their fields, and moves to the first when the focus is in the card. Returns those
   * that belong to no field.
   */
  showErrors(errors: readonly { readonly path: string; readonly message: string }[]): readonly string[] {
    this.#faults.clear();
    const strays: string[] = [];
    for (const { path, message } of errors) {
      if (this.#fields.some(({ name }) => name === path)) this.#faults.set(path, message);
      else strays.push(path === '' ? message : `${path}: ${message}`);
    }
    this.#host.requestUpdate();
    if (this.#root.activeElement !== null) void this.#focusFirstInvalid();
    return strays;
  }

  /** While it `isHeld` it stays as it is, and so does the focus; what is done to it is undone. */
  render(isHeld: boolean, strings: Strings): TemplateResult {
    this.#isHeld = isHeld;
    // The button is there for Enter alone, which needs one; browsers pass over those that are not drawn at all.
    return html`<form class="form" part="fields" novalidate aria-busy=${isHeld} @submit=${this.#submitted}>
      ${['title', 'description'].map((name) => {
        const text = isRecord(this.#schema) ? own(this.#schema, name) : undefined;
        return typeof text === 'string' && text ? html`<p class=${name}>${words(text)}</p>` : nothing;
      })}
      ${this.#fields.map((field, at) =>
        controlOf({
          field,
          id: idAt(at),
          draft: this.#draftOf(field),
          error: this.#errorOf(field, strings),
          strings,
          isSensitive: this.#isSensitive,
          change: (draft) => this.#change(field, draft),
        }),
      )}
      <button class="said" tabindex="-1" aria-hidden="true"></button>
    </form>`;
  }

  // What refers to ids has to be in their tree.
  get #root(): ShadowRoot | Document {
    return this.#host.shadowRoot ?? document;
  }

  readonly #submitted = (event: Event): void => {
    event.preventDefault();
    if (!this.#isHeld) this.#events.onSubmit();
  };

  #draftOf({ name, initial }: Field): Draft {
    return this.#drafts.has(name) ? this.#drafts.get(name) : initial;
  }

  #errorOf({ name, kind }: Field, strings: Strings): string | undefined {
    const fault = this.#faults.get(name);
    if (fault === undefined) return undefined;
    if (typeof fault === 'string') return strings.serverFault(fault);
    // Nothing is filled in where one picks.
    const isPicked = fault.rule === 'required' && ['boolean', 'select', 'multi'].includes(kind);
    return strings.fault(isPicked ? { rule: 'choice' } : fault);
  }

  #change(field: Field, draft: Draft): void {
    this.#host.requestUpdate();
    if (this.#isHeld) return;
    this.#events.onChange?.();
    this.#drafts.set(field.name, draft);
    if (this.#faults.delete(field.name)) {
      const fault = faultOfDraft(field, draft);
      if (fault !== undefined) this.#faults.set(field.name, fault);
    }
  }

  /** Half a date is no value to the browser, and would go out as none without a word. */
  #isHalfTyped(field: Field): field is TextLike & { readonly kind: 'date' | 'date-time' } {
    if (field.kind !== 'date' && field.kind !== 'date-time') return false;
    const entry = this.#root.querySelector(`#${idAt(this.#fields.indexOf(field))}`);
    return entry instanceof HTMLInputElement && entry.validity.badInput;
  }

  async #focusFirstInvalid(): Promise<void> {
    await this.#host.updateComplete;
    const found = this.#root.querySelector<HTMLElement>('.form [aria-invalid=true]');
    const choices = [...(found?.querySelectorAll('input') ?? [])];
    // The whole field first, with its name and what is wrong; then the control, which counts most.
    found?.closest('.field')?.scrollIntoView({ block: 'nearest' });
    (choices.find(({ checked }) => checked) ?? choices[0] ?? found)?.focus();
  }
}

function idAt(at: number): string {
  return `field-${at}`;
}
