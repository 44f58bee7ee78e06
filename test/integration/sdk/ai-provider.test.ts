import { createClient, type Elicitation } from '@parley/sdk';
import { createElicitationEvents, createParleyProvider, type ParleyDataPart } from '@parley/sdk/ai-provider';
import { generateText, streamText, type UIMessage } from 'ai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AcpSite, openAcpSite, openQuestions } from '../../harness/acp/setup.ts';
import { AI_VERSIONS } from '../../harness/chat/ai-versions.ts';
import { waitUntil } from '../../harness/wait-until.ts';

let site: AcpSite;
beforeAll(async () => {
  site = await openAcpSite({ holdMs: 20 });
});
afterAll(() => site?.stop());

/** A page with a person, who answers every question. */
async function openPage(content: Readonly<Record<string, string>> = { answer: 'green' }) {
  const userId = crypto.randomUUID();
  const token = await site.token(userId);
  const client = createClient({ baseUrl: site.url, token });
  const shown: string[] = [];
  const questions = createElicitationEvents({
    answer: (id, answer) => client.answer(id, answer),
    onOpen({ elicitation, respond }) {
      shown.push(`open ${elicitation.message}`);
      respond({ action: 'accept', content }).catch(() => undefined);
    },
    onEnd: ({ status }) => shown.push(status),
  });
  const parley = createParleyProvider({ baseUrl: site.url, token, retry: { firstDelayMs: 20 } });
  return { userId, parley, questions, shown };
}

it.each(AI_VERSIONS)(
  'streamText of ai $version brings the text, the calls and the questions of a turn, over its detachment',
  async ({ ai }) => {
    const { createUIMessageStream, readUIMessageStream, streamText } = ai;
    const { parley, questions, shown } = await openPage();
    const stream = createUIMessageStream({
      execute({ writer }) {
        const onData = (part: ParleyDataPart) => {
          questions.take(part);
          writer.write(part);
        };
        const result = streamText({ model: parley('helper', { onData }), prompt: 'colour' });
        writer.merge(result.toUIMessageStream());
      },
    });
    let message: UIMessage | undefined;
    for await (const next of readUIMessageStream({ stream, terminateOnError: true })) message = next;
    const texts = message?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    expect(texts).toEqual(['One moment.', expect.stringContaining('"answer":"green"')]);
    const data = message?.parts.find(({ type }) => type === 'data-elicitation-request');
    expect((data as { data?: Elicitation } | undefined)?.data?.status).toBe('accepted');
    expect(message?.parts.some(({ type }) => type === 'dynamic-tool')).toBe(true);
    expect(shown).toEqual(['open Which colour?', 'accepted']);
  },
);

it('generateText waits for the answer, and has the questions in its metadata', async () => {
  const { parley, questions } = await openPage();
  const model = parley('helper', { onData: (part) => void questions.take(part) });
  const { text, providerMetadata, finishReason } = await generateText({ model, prompt: 'colour' });
  expect(text).toContain('"answer":"green"');
  expect(finishReason).toBe('stop');
  expect(providerMetadata?.parley?.elicitations).toMatchObject([
    { message: 'Which colour?', status: 'accepted' },
  ]);
  expect(JSON.stringify(providerMetadata)).not.toContain('green');
});

it('without a handler nobody is asked, and what has no effect is a warning', async () => {
  const { userId, parley } = await openPage();
  const result = await generateText({
    model: parley(),
    system: 'Be brief.',
    temperature: 0,
    prompt: 'guess',
  });
  expect(result.text).toContain('"default":"grey"');
  expect(result.warnings?.map((warning) => 'feature' in warning && warning.feature)).toEqual([
    'temperature',
    'system messages',
  ]);
  expect(await openQuestions(site.engine, userId)).toEqual([]);
});

it('an aborted call stops the turn, and its question is withdrawn', async () => {
  const { userId, parley } = await openPage();
  const stopping = new AbortController();
  const model = parley('helper', { onData: () => undefined });
  const result = streamText({ model, prompt: 'colour', abortSignal: stopping.signal });
  const reading = result.consumeStream();
  await waitUntil(async () => (await openQuestions(site.engine, userId)).length === 1, {
    what: 'the question',
  });
  stopping.abort();
  await reading;
  await waitUntil(async () => (await openQuestions(site.engine, userId)).length === 0, {
    what: 'the withdrawal',
  });
});

it('a refused call rejects with the error of Parley', async () => {
  const parley = createParleyProvider({ baseUrl: site.url, token: 'nonsense' });
  await expect(generateText({ model: parley(), prompt: 'hi' })).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});

it('a page handles each question once, however often and in whatever envelope its part comes', () => {
  const seen: string[] = [];
  const questions = createElicitationEvents({
    answer: async () => undefined,
    onOpen: ({ elicitation }) => seen.push(`open ${elicitation.elicitationId}`),
    onChange: ({ status }) => seen.push(status),
    onEnd: ({ elicitationId }) => seen.push(`end ${elicitationId}`),
  });
  const one = { elicitationId: 'el_1', status: 'pending' };
  expect(questions.take({ type: 'data-elicitation-request', id: 'el_1', data: one })).toBe(true);
  expect(questions.take(one)).toBe(true);
  questions.take({ data: { ...one, status: 'opened' } });
  questions.take({ data: { ...one, status: 'accepted' } });
  questions.take(one);
  questions.take({ data: { elicitationId: 'el_2', status: 'declined' } });
  expect(questions.take({ type: 'text', text: 'hi' })).toBe(false);
  expect(seen).toEqual(['open el_1', 'opened', 'end el_1']);
});
