import { html, nothing, render, type TemplateResult } from 'lit';
import { detailsOf } from '../api/client.ts';
import type { ConsoleStrings } from '../strings/en.ts';
import { sentenceOf } from './notes.ts';
import { outside } from './texts.ts';

interface DialogProps {
  readonly words: ConsoleStrings;
  readonly title: string;
  /** What will happen, and the necessary input fields. */
  readonly body: TemplateResult;
  /** The label of the confirming button. */
  readonly act: string;
  readonly isDangerous?: boolean;
  /**
   * Does the work, with the values of the fields. If it rejects, the dialog stays open and shows why. A returned template
   * replaces the body.
   */
  readonly onAct: (fields: Readonly<Record<string, string>>) => Promise<TemplateResult | undefined>;
}

/**
 * Asks for confirmation before something is done. The browser keeps the focus in the dialog and closes it on Escape; then the
 * focus returns to its earlier place.
 */
export function openDialog(props: DialogProps): void {
  const dialog = document.createElement('dialog');
  document.body.append(dialog);
  let isActing = false;
  let error: unknown;
  let done: TemplateResult | undefined;
  const close = () => dialog.close();
  const act = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isActing) return;
    const entries = [...new FormData(event.currentTarget as HTMLFormElement)];
    const fields = Object.fromEntries(entries.map(([name, value]) => [name, String(value).trim()]));
    isActing = true;
    error = undefined;
    draw();
    try {
      done = await props.onAct(fields);
      if (done === undefined) return close();
    } catch (thrown) {
      error = thrown;
    }
    isActing = false;
    draw();
  };
  const draw = () => render(dialogView(props, { isActing, error, done, act, close }), dialog);
  dialog.setAttribute('aria-labelledby', 'dialog-title');
  dialog.addEventListener('close', () => dialog.remove());
  draw();
  dialog.showModal();
}

interface DialogState {
  readonly isActing: boolean;
  readonly error: unknown;
  readonly done: TemplateResult | undefined;
  readonly act: (event: SubmitEvent) => void;
  readonly close: () => void;
}

function dialogView(
  { words, title, body, act: word, isDangerous }: DialogProps,
  { isActing, error, done, act, close }: DialogState,
): TemplateResult {
  const heading = html`<h2 id="dialog-title">${outside(title)}</h2>`;
  if (done !== undefined)
    return html`${heading}<div role="status">${done}</div>
      <div class="actions"><button type="button" class="button" autofocus @click=${close}>${words.close}</button></div>`;
  return html`${heading}<form @submit=${act}>
    ${body}
    ${error === undefined ? nothing : html`<p class="note danger" role="alert">${[sentenceOf(error, words), ...detailsOf(error)].map(outside).map((one) => html`${one} `)}</p>`}
    <div class="actions">
      <button class="button ${isDangerous ? 'danger' : 'primary'}" aria-disabled=${isActing}>${word}</button>
      <button type="button" class="button" @click=${close}>${words.cancel}</button>
    </div>
  </form>`;
}
