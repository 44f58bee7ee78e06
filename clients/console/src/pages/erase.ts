import { html } from 'lit';
import type { PageContext } from '../kit/at.ts';
import { openDialog } from '../parts/dialogs.ts';
import { idText } from '../parts/texts.ts';

/** Erases a person after the operator has typed the person's id. */
export function eraseDialog({ api, words, say }: PageContext, userId: string, onDone: () => void): void {
  const compare = (event: Event) => {
    const input = event.currentTarget as HTMLInputElement;
    input.setCustomValidity(input.value === userId ? '' : words.isNotTheId);
  };
  openDialog({
    words,
    title: words.eraseTitle,
    body: html`<p>${words.eraseWhat}</p>
      <p>${idText(userId)}</p>
      <label class="field">${words.typeUserId}<input name="typed" required autocomplete="off" spellcheck="false" @input=${compare} /></label>`,
    act: words.erase,
    isDangerous: true,
    async onAct() {
      // One call works for a limited time, and the same call again continues.
      while (!(await api.call('DELETE /v1/users/:userId', { params: { userId } })).complete);
      say(words.erased);
      onDone();
      return undefined;
    },
  });
}
