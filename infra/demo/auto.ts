import { createClient, type Elicitation } from '@parley/sdk';

/** Plays the person: answers the form, opens the page and agrees there. Stops when `signal` is aborted. */
export async function answerByItself(apiUrl: string, token: string, signal: AbortSignal): Promise<void> {
  const person = createClient({ baseUrl: apiUrl, token });
  const met = new Set<string>();
  const meet = async (elicitation: Elicitation) => {
    if (met.has(elicitation.elicitationId)) return;
    met.add(elicitation.elicitationId);
    if (elicitation.mode === 'form') {
      await person.answer(elicitation.elicitationId, {
        action: 'accept',
        content: { environment: 'staging', announce: true },
      });
      return;
    }
    await person.answer(elicitation.elicitationId, { action: 'accept' });
    if (elicitation.url !== undefined) await fetch(elicitation.url, { method: 'POST' });
  };
  for await (const item of person.inbox({ signal })) {
    if (item.type === 'inbox-snapshot') await Promise.all(item.elicitations.map(meet));
    else if (item.type === 'elicitation-request') await meet(item.elicitation);
  }
}
