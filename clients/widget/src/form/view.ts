/**
 * The form inside a card: it keeps what is typed, checks it and shows errors at the fields. Single controls are in the files
 * beside it; sending the answer is the card's job.
 */

import { controlsOf, type FormControl } from '@parley/core/domain/forms/controls';
import { isRecord } from '@parley/core/domain/plain-record';
import { html, nothing, type ReactiveControllerHost, type TemplateResult } from 'lit';
import type { Strings } from '../strings/strings.ts';
import type { FieldFault } from '../strings/type.ts';
import { isChoiceOfTwo } from './choice-controls.ts';
import { plainText } from './control-frame.ts';
import { renderControl } from './controls.ts';
import { type Draft, draftIn, readDrafts } from './drafts.ts';

/** What the form is for. */
export interface FormPurpose {
  /** The question's id. Another id clears the form, even with the same schema. */
  readonly elicitationId?: string | undefined;
  /** True for a sensitive answer: the browser must neither store it nor check its spelling. */
  readonly isSensitive?: boolean | undefined;
}

interface FormEvents {
  /** Called when Enter was pressed in a single-line field. */
  onSubmit(): void;
  /** Called when a field was changed. */
  onChange?(): void;
}

/** The content to send; if not `ok`, the form shows its errors. */
type Submission = { readonly ok: true; readonly content: Record<string, unknown> } | { readonly ok: false };

/**
 * The form of a question. It renders the controls into the card and keeps the typed values, only in memory, until another
 * question is set.
 */
export class FormView {
  readonly #host: ReactiveControllerHost & HTMLElement;
  readonly #events: FormEvents;
  #key = '';
  #schema: Readonly<Record<string, unknown>> = {};
  #fields: readonly FormControl[] = [];
  #isSensitive = false;
  readonly #drafts = new Map<string, Draft>();
  /** The faults by field name; a string is the server's message. */
  readonly #faults = new Map<string, FieldFault | string>();
  #isLocked = false;

  constructor(host: ReactiveControllerHost & HTMLElement, events: FormEvents) {
    this.#host = host;
    this.#events = events;
    // For the page, the card is not an input field, so the page's shortcuts would react to typed letters.
    for (const name of ['keydown', 'keypress', 'keyup', 'paste']) host.addEventListener(name, keep);
  }

  /** Sets the `requestedSchema`. The same schema again keeps the typed values. */
  setSchema(schema: unknown, { elicitationId, isSensitive = false }: FormPurpose = {}): void {
    this.#isSensitive = isSensitive;
    const key = JSON.stringify([elicitationId, schema]);
    if (key === this.#key) return;
    this.clear();
    this.#key = key;
    this.#schema = isRecord(schema) ? schema : {};
    this.#fields = controlsOf(schema);
  }

  /** Removes the question, the typed values and all errors. */
  clear(): void {
    this.#key = '';
    this.#fields = [];
    this.#drafts.clear();
    this.#faults.clear();
    // A half-typed date is in no draft, and must not remain in the next question.
    this.#root.querySelector('form')?.reset();
    this.#root.querySelector<HTMLElement>('.form :focus')?.blur();
    this.#host.requestUpdate();
  }

  /** Whether the only field is a yes or no to choose, which the card's buttons answer. */
  get isYesNo(): boolean {
    return this.#fields.length === 1 && this.#fields.every(isChoiceOfTwo);
  }

  /** Answers the only field. */
  choose(isYes: boolean): void {
    for (const field of this.#fields) this.#change(field, isYes);
  }

  /** Whether clearing the form would lose values. */
  get isDirty(): boolean {
    return this.#drafts.size > 0 || this.#fields.some((field) => this.#isHalfTyped(field));
  }

  /** Returns the content to send, or shows all errors and focuses the first. */
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
   * Shows the server's errors at their fields, and focuses the first one if the focus is in the card. Returns the messages that
   * belong to no field.
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

  /** Renders the form. With `isLocked`, it keeps its values and the focus, and every change is reverted. */
  render(isLocked: boolean, strings: Strings): TemplateResult {
    this.#isLocked = isLocked;
    // Enter submits a form only if there is a rendered button.
    return html`<form class="form" part="fields" novalidate aria-busy=${isLocked} @submit=${this.#submitted}>
      ${['title', 'description'].map((name) => {
        const text = this.#schema[name];
        return typeof text === 'string' && text ? html`<p class=${name}>${plainText(text)}</p>` : nothing;
      })}
      ${this.#fields.map((field, at) =>
        // The card's buttons answer a single yes or no.
        this.isYesNo
          ? html`<p class="words">${plainText(field.label)}</p>`
          : renderControl({
              field,
              id: idAt(at),
              draft: draftIn(this.#drafts, field),
              error: this.#errorOf(field, strings),
              strings,
              isSensitive: this.#isSensitive,
              change: (draft) => this.#change(field, draft),
            }),
      )}
      <button class="said" tabindex="-1" aria-hidden="true"></button>
    </form>`;
  }

  // Ids can only be referred to within their own tree, so the form needs that tree.
  get #root(): ShadowRoot | Document {
    return this.#host.shadowRoot ?? document;
  }

  readonly #submitted = (event: Event): void => {
    event.preventDefault();
    if (!this.#isLocked) this.#events.onSubmit();
  };

  #errorOf({ name, kind }: FormControl, strings: Strings): string | undefined {
    const fault = this.#faults.get(name);
    if (fault === undefined) return undefined;
    if (typeof fault === 'string') return strings.serverFault(fault);
    // For a choice, "fill in this field" would be the wrong message.
    const isPicked = fault.rule === 'required' && ['boolean', 'select', 'multi'].includes(kind);
    return strings.fault(isPicked ? { rule: 'choice' } : fault);
  }

  #change(field: FormControl, draft: Draft): void {
    this.#host.requestUpdate();
    if (this.#isLocked) return;
    this.#events.onChange?.();
    this.#drafts.set(field.name, draft);
    this.#faults.delete(field.name);
  }

  /** Whether a date is half-typed. For the browser it has no value, so without this check it would be sent as no answer. */
  #isHalfTyped(field: FormControl): field is FormControl & { readonly kind: 'date' | 'date-time' } {
    const id = `#${idAt(this.#fields.indexOf(field))}`;
    return this.#root.querySelector<HTMLInputElement>(id)?.validity.badInput === true;
  }

  async #focusFirstInvalid(): Promise<void> {
    await this.#host.updateComplete;
    const found = this.#root.querySelector<HTMLElement>('.form [aria-invalid=true]');
    const choices = [...(found?.querySelectorAll('input') ?? [])];
    // The whole field with its name and error is scrolled into view first, and then the control gets the focus.
    found?.closest('.field')?.scrollIntoView({ block: 'nearest' });
    (choices.find(({ checked }) => checked) ?? choices[0] ?? found)?.focus();
  }
}

/** Keeps key events of a field from the page, except Escape, which closes things, and Tab, which moves the focus. */
function keep(event: Event): void {
  const isTyped = (event.composedPath()[0] as Element).matches('input,select,textarea');
  if (isTyped && !/Esc|Tab/.test((event as KeyboardEvent).key)) event.stopPropagation();
}

function idAt(at: number): string {
  return `field-${at}`;
}
