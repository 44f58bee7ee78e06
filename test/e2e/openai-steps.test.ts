import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ScriptedReply, Turn } from '../../infra/demo/stand-ins/scripted-model/script.ts';
import { person } from '../harness/chat/client.ts';
import { type ChatSite, openChatSite } from '../harness/chat/transport-site.ts';
import { waitUntil } from '../harness/wait-until.ts';

// Still streaming when its last reader has connected and its pod was killed.
const TEXT = 'one two three four '.repeat(300);

function line({ userText }: Turn): ScriptedReply {
  return { text: userText === 'hello' ? 'Hello.' : TEXT };
}

let chats: ChatSite;
let buffered = '';
beforeAll(async () => {
  chats = await openChatSite({ script: [line], delayMs: 10 });
  buffered = (await chats.site.pod({ ...chats.env, PARLEY_OPENAI_STEPS: 'buffered' })).url;
  // The first turn of a pod takes its time.
  await Promise.all(
    [...chats.pods.map(({ url }) => url), buffered].map(async (url) => {
      const { authorization } = await person();
      await (await ask({ url, authorization, text: 'hello' })).done;
    }),
  );
});
afterAll(() => chats?.stop());

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
  const read = async () => {
    let rest = '';
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = `${rest}${piece}`.split('\n');
      rest = lines.pop() ?? '';
      for (const each of lines.filter((one) => one.startsWith('data: '))) {
        if (each === 'data: [DONE]') seen.isDone = true;
        else {
          const { choices, error } = JSON.parse(each.slice(6)) as Chunk;
          seen.text += choices?.[0]?.delta.content ?? '';
          if (error !== undefined) seen.codes.push(error.code);
        }
      }
    }
  };
  return { seen, done: read().catch(() => undefined) };
}

it('a step that starts again is an error where text was streamed live, and is invisible where steps are buffered', async () => {
  const { authorization } = await person();
  const one = { authorization, key: randomUUID(), text: 'Count.' };
  const [owner, other] = chats.pods;
  const dying = await ask({ ...one, url: owner?.url ?? '' });
  const live = await ask({ ...one, url: other?.url ?? '' });
  const whole = await ask({ ...one, url: buffered });
  await waitUntil(() => live.seen.text.length > 20, { what: 'some of the text' });
  expect(whole.seen.text).toBe('');
  owner?.kill('SIGKILL');
  await Promise.all([dying.done, live.done, whole.done]);
  expect(dying.seen.isDone).toBe(false);
  expect(live.seen.codes).toEqual(['step_restarted']);
  expect(whole.seen).toEqual({ text: TEXT, codes: [], isDone: true });
});
