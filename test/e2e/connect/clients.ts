import { createOpenAiReader, type OpenAiPart } from '@parley/sdk/openai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { questionsIn, textOf } from '../../harness/chat/client.ts';
import { SAYS } from '../../harness/pages/browser.ts';
import { TAIL, TRACKER, wholeText } from './agents.ts';
import { asked, callsSeen, meet, type Question, WAIT_MS } from './person.ts';
import type { World } from './world.ts';

const REFUSED = new RegExp(`tracker__create_issue.*${TRACKER}.*Do not retry`);

/** Tests with real clients of all kinds. */
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

  describe('a client that can show questions', () => {
    it('the OpenAI client gets the question as an envelope, and the reply continues after it', async () => {
      const person = await meet(the());
      const client = openAi(person.token, { 'x-supports-elicitation': 'true' });
      const stream = await client.chat.completions.create({
        model: 'helper',
        messages: [{ role: 'user', content: 'file one' }],
        stream: true,
      });
      const read = createOpenAiReader();
      const parts: OpenAiPart[] = [];
      let finish: string | null = null;
      for await (const chunk of stream) {
        finish = chunk.choices[0]?.finish_reason ?? finish;
        for (const part of read(chunk)) {
          parts.push(part);
          if (part.type === 'elicitation-request') await person.connect(part.elicitation as Question);
        }
      }
      expect(parts.map((part) => (part.type === 'other' ? part.event : part.type))).toEqual(
        expect.arrayContaining(['elicitation-request', 'elicitation-resolved', 'tool-output-available']),
      );
      const words = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
      expect(words.replaceAll('\n', '')).toBe(wholeText('one'));
      expect(finish).toBe('stop');
    });
  });

  describe('a client that shows urls, but no forms', () => {
    it('opens the page of a form, and the answer there continues the turn', async () => {
      const person = await meet(the());
      const turn = await person.say('ask', { supports: 'url' });
      const question = await asked(turn);
      expect(question).toMatchObject({ mode: 'url', completion: 'server' });
      const consent = await person.answer(question.elicitationId, { action: 'accept' });
      expect(await consent.json()).toMatchObject({ status: 'opened', mode: 'url', url: question.url });
      const form = await person.browser.enter(question.url ?? '', person.userId);
      expect(form.html).toContain('Which colour?');
      const answered = await person.browser.submit(form, 'accept', { 'field-0': 'green' });
      expect(answered.heading).toBe(SAYS.ended('answered'));
      const message = await turn.done;
      expect(textOf(message)).toContain('Thank you.');
      expect(questionsIn(message)).toMatchObject([{ status: 'accepted' }]);
      expect(JSON.stringify(message)).not.toContain('requestedSchema');
    });
  });

  describe('a client that cannot show questions', () => {
    /** Expects that `run` asks no question and calls no tool. */
    async function quietly<T>(run: () => Promise<T>): Promise<T> {
      const calls = callsSeen(the());
      const result = await run();
      expect(callsSeen(the())).toEqual(calls);
      return result;
    }

    it('of the AI SDK gets a notice with the reason at once, and can continue the conversation', async () => {
      const person = await meet(the());
      const message = await quietly(async () => (await person.say('file one', { supports: 'none' })).done);
      expect(textOf(message)).toMatch(REFUSED);
      expect(questionsIn(message)).toEqual([]);
      const notice = message?.parts.find(({ type }) => type === 'data-tool-auth-required');
      expect(notice).toMatchObject({ data: { toolId: 'tracker', service: TRACKER } });
      expect(textOf(await (await person.say('hello', { supports: 'none' })).done)).toBe('You said hello.');
    });

    it('of OpenAI reads only text', async () => {
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

    it('with a service key acts for no user, streamed or not', async () => {
      const { service } = the().secrets;
      const headers = {
        authorization: `Bearer ${service}`,
        'content-type': 'application/json',
        'x-supports-elicitation': 'true',
      };
      const body = JSON.stringify({ id: 'chat', messages: [{ role: 'user', content: 'file one' }] });
      const streamed = await quietly(async () => {
        const reply = await fetch(`${the().url}/run/api/chat`, { method: 'POST', headers, body });
        return reply.text();
      });
      expect(streamed).toContain('data-tool-auth-required');
      expect(streamed).not.toContain('data-elicitation-request');
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
