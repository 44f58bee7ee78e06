import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type {
  AskedOfClient,
  Called,
  ClientAnswer,
  ClientOptions,
  StockClient,
} from '../../harness/mcp-clients/clients.ts';
import { statusesOf } from './remote-chats.ts';
import type { CaseRow } from './report.ts';
import type { McpPods } from './site.ts';
import type { UrlCase } from './url-cases.ts';

export const AT_ONCE = 8;
/** The tenant of the accounts on the connect pages. */
export const TENANT = 'acme';
export const GREEN: ClientAnswer = { action: 'accept', content: { answer: 'green' } };
/** What the person of a call answers, by the ordinal of the call. The last asks twice. */
const ANSWERS: readonly ClientAnswer[] = [GREEN, { action: 'decline' }, { action: 'cancel' }, GREEN];
const HEARD = [/green/, /declined/, /dismissed|cancel/, /green.*green/s];

/** Calls by their names, which begin with their ordinals. */
export type Results = Map<string, Called | Error>;

/** What a call is expected to return, and how often its tool has its effect. */
export interface Expected {
  readonly text: RegExp;
  readonly isError: boolean;
  readonly effects: number;
}

export type Answer = (asked: AskedOfClient, signal: AbortSignal, callName: string) => Promise<ClientAnswer>;

const ordinalOf = (callName: string) => Number(callName.split('-')[0]);

/** What the person of a call answers to its form. */
export const answerOf = (callName: string): ClientAnswer => ANSWERS[ordinalOf(callName) % 4] ?? GREEN;
const answered = (callName: string): Expected => ({
  text: HEARD[ordinalOf(callName) % 4] ?? /never/,
  isError: false,
  effects: 1,
});

/** Makes the calls of one official client, and compares what they return. `rows` gets a row for each case. */
export function createCalls(
  name: string,
  open: (options: ClientOptions) => Promise<StockClient>,
  rows: CaseRow[],
) {
  const callOnce = (client: StockClient, message: string, tool?: string) =>
    client.call(message, tool === undefined ? {} : { tool }).catch((error: unknown) => error as Error);

  return {
    /** Makes calls of one person, some at a time. */
    async callAll(
      pods: McpPods,
      count: number,
      answer: Answer,
      { fetch, tool }: { readonly fetch?: typeof globalThis.fetch; readonly tool?: string } = {},
    ): Promise<Results> {
      const names = Array.from({ length: count }, (_, index) => `${index}-${randomUUID()}`);
      const client = await open({
        urls: [pods.url],
        token: await pods.token(`person-${randomUUID()}`),
        answer: (asked, signal) =>
          answer(asked, signal, names.find((one) => asked.message.includes(one)) ?? ''),
        ...(fetch !== undefined && { fetch }),
      });
      const results: Results = new Map();
      try {
        await workOn(names, async (next) => {
          const word = ordinalOf(next) % 4 === 3 ? 'two' : 'one';
          results.set(next, await callOnce(client, `${word} ${next}`, tool));
        });
      } finally {
        await client.close();
      }
      return results;
    },

    /** Makes one call of a person of its own, and expects one question, by url. Returns the name of the call and its result. */
    async callByUrl(pods: McpPods, { tool, answer, status }: UrlCase): Promise<[string, Called | Error]> {
      const userId = `person-${randomUUID()}`;
      const callName = `0-${randomUUID()}`;
      const asked: unknown[] = [];
      const client = await open({
        urls: [pods.url],
        token: await pods.token(userId, TENANT),
        answer(question, signal) {
          asked.push(question.mode);
          return answer(question, signal, { userId, origin: pods.url });
        },
      });
      try {
        const result = await callOnce(client, `one ${callName}`, tool);
        expect(asked).toEqual(['url']);
        expect(await statusesOf(pods.url, TENANT, userId)).toEqual([status]);
        return [callName, result];
      } finally {
        await client.close();
      }
    },

    expectRight(
      pods: McpPods,
      caseName: string,
      results: Results,
      expectedOf: (callName: string) => Expected = answered,
    ): void {
      const calls = [...results];
      const effectsOf = (callName: string) => pods.booked.get(callName) ?? 0;
      const isRight = ([callName, result]: [string, Called | Error]) => {
        const { text, isError } = expectedOf(callName);
        return !(result instanceof Error) && text.test(result.text) && result.isError === isError;
      };
      rows.push({
        client: name,
        name: caseName,
        calls: calls.length,
        right: calls.filter(isRight).length,
        effects: calls.reduce((sum, [callName]) => sum + effectsOf(callName), 0),
        repeated: calls.filter(([one]) => effectsOf(one) + (pods.refused.get(one) ?? 0) > 1).length,
      });
      for (const [callName, result] of calls) {
        const { text, isError, effects } = expectedOf(callName);
        expect(result, callName).toEqual({ text: expect.stringMatching(text), isError });
        expect(effectsOf(callName), callName).toBe(effects);
      }
    },
  };
}

/** Works on all of them, some at a time. */
export async function workOn<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = [...items];
  const worker = async () => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
