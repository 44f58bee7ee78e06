import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { person } from '../../harness/chat/client.ts';
import type { ChatSite } from '../../harness/chat/transport-site.ts';
import { readEvents } from '../../harness/http/read-events.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { RECITAL } from './idempotency.ts';
import type { Mourner } from './shared-death.ts';

interface Asking {
  readonly url: string;
  readonly authorization: string;
  readonly text: string;
  readonly key?: string;
}

async function ask({ url, authorization, text, key = randomUUID() }: Asking) {
  const response = await fetch(`${url}/run/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ model: 'helper', stream: true, messages: [{ role: 'user', content: text }] }),
  });
  expect(response.status).toBe(200);
  return reading(response);
}

interface Chunk {
  readonly choices?: readonly { readonly delta: { readonly content?: string } }[];
  readonly error?: { readonly code: string };
}

/** Reads a reply in the OpenAI format as it comes. */
function reading(response: Response) {
  const seen = { text: '', codes: [] as string[], isDone: false };
  const done = readEvents(response, ({ data }) => {
    if (data === '[DONE]') seen.isDone = true;
    else {
      const { choices, error } = JSON.parse(data) as Chunk;
      seen.text += choices?.[0]?.delta.content ?? '';
      if (error !== undefined) seen.codes.push(error.code);
    }
  });
  return { seen, done: done.catch(() => undefined) };
}

/** A reply in the OpenAI format whose step starts again. */
export const stepThatStartsAgain = (the: () => ChatSite): Mourner => ({
  name: 'a step that starts again is an error where text was streamed live, and is invisible where steps are buffered',
  async test({ held, dies, goesOn, afterwards }) {
    const { authorization } = await person();
    const text = `count ${randomUUID()}`;
    const one = { authorization, key: randomUUID(), text };
    const { env, pods, site } = the();
    const [owner, other] = pods;
    const buffered = await site.pod({ ...env, PARLEY_OPENAI_STEPS: 'buffered' });
    // It may have taken over a turn of another test of the group. A pod that ends hands its turns over, which costs a round
    // of the model; and later tests expect only the pods behind the balancer.
    afterwards(() => buffered.stop());
    await held();
    const dying = await ask({ ...one, url: owner?.url ?? '' });
    const live = await ask({ ...one, url: other?.url ?? '' });
    const whole = await ask({ ...one, url: buffered.url });
    await waitUntil(() => live.seen.text !== '', { what: 'some of the text' });
    expect(whole.seen.text).toBe('');
    const { replaced } = await dies();
    await dying.done;
    expect(dying.seen.isDone).toBe(false);
    await goesOn();
    await Promise.all([live.done, whole.done, replaced]);
    expect(live.seen.codes).toEqual(['step_restarted']);
    expect(whole.seen).toEqual({ text: `${text} ${RECITAL}`, codes: [], isDone: true });
  },
});
