import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../harness/wait-until.ts';
import { questionsIn, textOf } from '../chat/client.ts';
import { TAIL, TRACKER, wholeText } from './agents.ts';
import { type RawStream, readRaw, seqOf } from './frames.ts';
import { meet, type Person, type Question, WAIT_MS } from './person.ts';
import type { World } from './world.ts';

const REFUSED = new RegExp(`tracker__create_issue.*${TRACKER}.*Do not retry`);

interface Told {
  readonly type: string;
  readonly delta?: string;
  readonly data?: Question;
  readonly [key: string]: unknown;
}

/** What an AI SDK stream has told so far, without its end mark. */
function toldIn(stream: RawStream): Told[] {
  return stream
    .frames()
    .flatMap(({ data }) => (data === undefined || data === '[DONE]' ? [] : [JSON.parse(data) as Told]));
}

const textIn = (told: readonly Told[]) => told.map(({ delta = '' }) => delta).join('');

/** Clients of all kinds, as they are. */
export function clients(the: () => World): void {
  const openAi = (apiKey: string, headers: Record<string, string> = {}) =>
    new OpenAI({
      baseURL: `${the().url}/run/v1`,
      apiKey,
      maxRetries: 0,
      defaultHeaders: headers,
      timeout: WAIT_MS,
      fetch: (...args) => globalThis.fetch(...args),
    });

  const rawChat = ({ authorization }: Pick<Person, 'authorization'>, text: string, supports?: string) =>
    readRaw(`${the().url}/run/api/chat`, {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/json',
        ...(supports !== undefined && { 'x-supports-elicitation': supports }),
      },
      body: JSON.stringify({ id: 'chat', messages: [{ role: 'user', content: text }] }),
    });

  const askedRaw = (stream: RawStream) =>
    waitUntil(() => toldIn(stream).find(({ type }) => type === 'data-elicitation-request')?.data, {
      what: 'the question',
      timeoutMs: WAIT_MS,
    });

  describe('a client that knows of questions', () => {
    it('the OpenAI client: the question is an envelope, and the answer goes on after it', async () => {
      const person = await meet(the());
      const client = openAi(person.token, { 'x-supports-elicitation': 'true' });
      const stream = await client.chat.completions.create({
        model: 'helper',
        messages: [{ role: 'user', content: 'file one' }],
        stream: true,
      });
      const contents: string[] = [];
      let finish: string | null = null;
      for await (const { choices } of stream) {
        const content = choices[0]?.delta.content ?? '';
        contents.push(content);
        finish = choices[0]?.finish_reason ?? finish;
        const isQuestion = content.startsWith('{"type":"elicitation-request"');
        if (isQuestion) await person.connect(JSON.parse(content) as Question);
      }
      const envelopes = contents.filter((content) => content.startsWith('{'));
      expect(envelopes.map((content) => (JSON.parse(content) as Told).type)).toEqual(
        expect.arrayContaining(['elicitation-request', 'elicitation-resolved', 'tool-output-available']),
      );
      const words = contents.filter((content) => !content.startsWith('{')).join('');
      expect(words.replaceAll('\n', '')).toBe(wholeText('one'));
      expect(finish).toBe('stop');
    });

    it('a reader of the bytes: whole frames, rising positions, nothing lost or told twice on another pod', async () => {
      const person = await meet(the());
      const first = await rawChat(person, 'file one', 'true');
      const question = await askedRaw(first);
      first.leave();
      const seen = first.frames().filter(({ id }) => id !== undefined);
      const second = await readRaw(`${the().url}/run/api/chat/chat/stream`, {
        headers: { authorization: person.authorization, 'last-event-id': seen.at(-1)?.id ?? '' },
      });
      await person.connect(question);
      await second.ended;
      const frames = [...first.frames(), ...second.frames()];
      expect(frames.at(-1)?.data).toBe('[DONE]');
      expect(frames.filter(({ data }) => data === '[DONE]')).toHaveLength(1);
      expect(second.text().endsWith('\n\n')).toBe(true);
      const positions = frames.filter(({ id }) => id !== undefined).map(seqOf);
      expect(positions).toEqual(positions.toSorted((one, other) => one - other));
      const told = [...toldIn(first), ...toldIn(second)];
      expect(textIn(told)).toBe(wholeText('one'));
      const statuses = told.flatMap(({ type, data }) =>
        type === 'data-elicitation-request' ? [data?.status] : [],
      );
      expect(statuses).toEqual(['pending', 'opened', 'accepted']);
      expect(told.filter(({ type }) => type === 'start')).toHaveLength(1);
      expect(told.at(-1)?.type).toBe('finish');
    });
  });

  describe('a client that knows nothing of questions', () => {
    /** Nothing was asked, and nothing was called. */
    async function quietly<T>(run: () => Promise<T>): Promise<T> {
      const requests = the().tracker.counts().requests;
      const result = await run();
      expect(the().tracker.counts().requests).toBe(requests);
      return result;
    }

    it('of the AI SDK hears at once why not, with a notice, and talks on', async () => {
      const person = await meet(the());
      const message = await quietly(async () => (await person.say('file one', { supports: 'none' })).done);
      expect(textOf(message)).toMatch(REFUSED);
      expect(questionsIn(message)).toEqual([]);
      const notice = message?.parts.find(({ type }) => type === 'data-tool-auth-required');
      expect(notice).toMatchObject({ data: { toolId: 'tracker', service: TRACKER } });
      expect(textOf(await (await person.say('hello', { supports: 'none' })).done)).toBe('You said hello.');
    });

    it('of OpenAI reads nothing but text', async () => {
      const { token } = await meet(the());
      const reply = await quietly(async () => {
        const stream = await openAi(token).chat.completions.create({
          model: 'helper',
          messages: [{ role: 'user', content: 'file one' }],
          stream: true,
        });
        let text = '';
        for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
        return text;
      });
      expect(reply).toMatch(REFUSED);
      expect(reply).toContain(TAIL);
      expect(reply).not.toContain('tool-auth-required');
    });

    it('with a service key is nobody’s user: streamed and whole', async () => {
      const { service } = the().secrets;
      const stream = await quietly(async () => {
        const raw = await rawChat({ authorization: `Bearer ${service}` }, 'file one', 'true');
        await raw.ended;
        return raw;
      });
      const told = toldIn(stream);
      expect(textIn(told)).toMatch(REFUSED);
      expect(told.map(({ type }) => type)).toContain('data-tool-auth-required');
      expect(told.map(({ type }) => type)).not.toContain('data-elicitation-request');
      const whole = await quietly(() =>
        openAi(service).chat.completions.create({
          model: 'helper',
          messages: [{ role: 'user', content: 'file one' }],
        }),
      );
      expect(whole.choices[0]).toMatchObject({
        finish_reason: 'stop',
        message: { content: expect.stringMatching(REFUSED) },
      });
    });
  });
}
