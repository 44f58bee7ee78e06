import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type Ask,
  createElicitor,
  createMcpHandler,
  createSecretAnswer,
  type ElicitationHandler,
  NobodyCanAskError,
  type Prompt,
  type PromptReply,
  pagesOf,
} from '../../../clients/sdk/src/elicit.ts';

interface Scripted extends ElicitationHandler {
  readonly prompts: Prompt[];
}

/** A handler that replies with the next of its lines. */
function scripted(
  name: string,
  lines: readonly (PromptReply | Error)[],
  more: Partial<ElicitationHandler> = {},
): Scripted {
  const prompts: Prompt[] = [];
  return {
    name,
    prompts,
    canHandle: () => true,
    async handle(prompt) {
      prompts.push(prompt);
      const line = lines[prompts.length - 1];
      if (line === undefined || line instanceof Error) throw line ?? new Error('no more lines');
      return line;
    },
    ...more,
  };
}

const accept = (content: unknown): PromptReply => ({ action: 'accept', content });

describe('kinds', () => {
  // What each kind becomes for a client is in integration/cli/mcp.test.ts; here are the bounds that none of its answers meets.
  it.each<readonly [Ask, object]>([
    [{ kind: 'multi_choice', message: 'm', options: ['a', 'b'], max: 2 }, { maxItems: 2 }],
    [
      { kind: 'number', message: 'm', min: 1 },
      { type: 'number', minimum: 1 },
    ],
  ])('%j has its bounds in the flat schema', (ask, field) => {
    expect(pagesOf(ask)?.[0]?.schema.properties.answer).toMatchObject(field);
  });

  it('a secret and a url say that no flat schema can carry them', () => {
    expect(pagesOf({ kind: 'secret', message: 'm' })).toBeUndefined();
    expect(pagesOf({ kind: 'url', message: 'm', url: 'https://example.com' })).toBeUndefined();
  });

  it('an ask that breaks the rules of the subset is refused before anybody is asked', async () => {
    const handler = scripted('a', []);
    const asking = createElicitor({ handlers: [handler] }).ask({ kind: 'choice', message: 'm', options: [] });
    await expect(asking).rejects.toMatchObject({ code: 'invalid_request' });
    expect(handler.prompts).toEqual([]);
  });
});

describe('answers', () => {
  it.each<readonly [Ask, unknown, unknown]>([
    [
      { kind: 'multi_choice', message: 'm', options: ['a', 'b'], other: true },
      { answer: ['a', '__other__'], answer_other: 'x' },
      ['a', 'x'],
    ],
    [{ kind: 'approval', message: 'm', action: 'Delete' }, { decision: 'denied' }, { decision: 'denied' }],
    [
      { kind: 'form', message: 'm', schema: z.object({ n: z.int().transform((n) => `#${n}`) }) },
      { n: 3 },
      { n: '#3' },
    ],
  ])('of a $kind come in the asker’s terms', async (ask, content, value) => {
    const elicitor = createElicitor({ handlers: [scripted('a', [accept(content)])] });
    expect(await elicitor.ask(ask)).toEqual({ status: 'accepted', value, handler: 'a' });
  });

  it.each<readonly [Ask, unknown, string]>([
    [{ kind: 'date', message: 'm', min: '2026-02-01' }, { answer: '2026-01-31' }, 'answer'],
    [{ kind: 'choice', message: 'm', options: ['a'], other: true }, { answer: '__other__' }, 'answer_other'],
    [
      {
        kind: 'form',
        message: 'm',
        schema: z.object({ n: z.int().refine((n) => n % 2 === 1, 'must be odd') }),
      },
      { n: 2 },
      'n',
    ],
  ])(
    'that break a rule of a $kind are asked again with the fault of the field',
    async (ask, content, path) => {
      const handler = scripted('a', [accept(content), { action: 'decline' }]);
      expect(await createElicitor({ handlers: [handler] }).ask(ask)).toEqual({
        status: 'declined',
        handler: 'a',
      });
      expect(handler.prompts[0]?.faults).toEqual([]);
      expect(handler.prompts[1]?.faults).toEqual([{ path, message: expect.stringMatching(/must|required/) }]);
    },
  );

  it('of a form with steps skip a step whose condition is false', async () => {
    const handler = scripted('a', [accept({ kind: 'person' }), accept({ name: 'Ada' })]);
    const outcome = await createElicitor({ handlers: [handler] }).ask({
      kind: 'form',
      message: 'm',
      steps: [
        { fields: { kind: { kind: 'choice', options: ['person', 'company'] } } },
        { fields: { vat: { kind: 'text' } }, when: (answers) => answers.kind === 'company' },
        { fields: { name: { kind: 'text' } } },
      ],
    });
    expect(outcome).toMatchObject({ status: 'accepted', value: { kind: 'person', name: 'Ada' } });
    expect(handler.prompts.map(({ page }) => page)).toEqual([0, 2]);
  });

  it('that are secret show themselves nowhere', () => {
    const secret = createSecretAnswer('hunter2');
    expect(`${secret} ${JSON.stringify({ secret })} ${inspect({ secret })}`).not.toContain('hunter2');
    expect(secret.reveal()).toBe('hunter2');
  });
});

describe('the chain', () => {
  const ask = { kind: 'confirmation', message: 'm' } as const;
  const yes = accept({ answer: true });

  it('takes the handler with the highest priority, and each next one when a handler cannot or fails', async () => {
    const names = ['first', 'second', 'third', 'fourth'];
    for (const broken of [0, 1, 2, 3]) {
      const handlers = names.map((name, at) =>
        scripted(name, [at < broken && at % 2 === 0 ? new Error('down') : yes], {
          priority: 10 - at,
          ...(at < broken && at % 2 === 1 && { canHandle: () => Promise.reject(new Error('unknown')) }),
        }),
      );
      const outcome = await createElicitor({ handlers: handlers.reverse() }).ask(ask);
      expect(outcome).toEqual({ status: 'accepted', value: true, handler: names[broken] });
    }
  });

  it('without a handler that can: the fallback, a cancel, or an error that names each handler', async () => {
    const handlers = [scripted('a', [], { canHandle: () => false }), scripted('b', [new Error('down')])];
    const failing = createElicitor({ handlers }).ask(ask);
    await expect(failing).rejects.toBeInstanceOf(NobodyCanAskError);
    await expect(failing).rejects.toMatchObject({
      code: 'nobody_can_ask',
      attempts: [
        { handler: 'a', reason: 'cannot' },
        { handler: 'b', reason: 'failed' },
      ],
    });
    const none = createElicitor({ handlers: [], onNobody: 'cancel' });
    expect(await none.ask(ask)).toEqual({ status: 'cancelled' });
    expect(await none.ask({ ...ask, fallback: false })).toEqual({ status: 'defaulted', value: false });
  });

  it('ends at the deadline even if the handler ignores its signal', async () => {
    const deaf = scripted('a', [], { handle: () => new Promise(() => undefined) });
    const outcome = await createElicitor({ handlers: [deaf], timeoutSeconds: 0.02 }).ask(ask);
    expect(outcome).toEqual({ status: 'expired' });
  });

  it('shows nothing after it was aborted, and leaves no rejection of a handler unhandled', async () => {
    const reason = new Error('taken away');
    const late = new AbortController();
    const unshown = scripted('a', [], {
      async canHandle() {
        late.abort(reason);
        return true;
      },
    });
    const asking = createElicitor({ handlers: [unshown] }).ask(ask, { signal: late.signal });
    await expect(asking).rejects.toBe(reason);
    expect(unshown.prompts).toEqual([]);

    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const gone = new AbortController();
    const failing = scripted('b', [], {
      handle: () => {
        gone.abort(reason);
        return Promise.reject(new Error('the connection broke'));
      },
    });
    const broken = createElicitor({ handlers: [failing] }).ask(ask, { signal: gone.signal });
    await expect(broken).rejects.toBe(reason);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('shows one prompt at a time where there is one screen, a later page of an ask first', async () => {
    let open = 0;
    const order: string[] = [];
    const screen = scripted('screen', [], {
      oneAtATime: true,
      async handle({ message, page }) {
        open += 1;
        expect(open).toBe(1);
        order.push(`${message}${page}`);
        await new Promise((resolve) => setTimeout(resolve, 1));
        open -= 1;
        return accept(message === 'A' ? { [`f${page}`]: 'x' } : { answer: true });
      },
    });
    const elicitor = createElicitor({ handlers: [screen] });
    const steps = [0, 1].map((at) => ({ fields: { [`f${at}`]: { kind: 'text' as const } } }));
    await Promise.all([
      elicitor.ask({ kind: 'form', message: 'A', steps }),
      elicitor.ask({ ...ask, message: 'B' }),
      elicitor.ask({ ...ask, message: 'C' }),
    ]);
    expect(order).toEqual(['A0', 'B0', 'A1', 'C0']);
  });

  it('lets the check of an answer ask a question of its own', async () => {
    // zod runs an asynchronous refinement a second time after it has found out that it is one.
    const screen = scripted('screen', [accept({ n: 1 }), yes, yes], { oneAtATime: true });
    const elicitor = createElicitor({ handlers: [screen] });
    const schema = z.object({
      n: z.int().refine(async () => (await elicitor.ask(ask)).status === 'accepted'),
    });
    expect(await elicitor.ask({ kind: 'form', message: 'm', schema })).toMatchObject({ status: 'accepted' });
  });

  it('asks no client without end that replies at once with answers that break a rule', async () => {
    let refused = 0;
    let wrong = 0;
    const refuse = async () => {
      refused += 1;
      const text = 'Elicitation response content does not match requested schema: data must have answer';
      throw Object.assign(new Error(text), { code: -32602 });
    };
    const acceptEmpty = async () => {
      wrong += 1;
      return { action: 'accept', content: {} };
    };
    const other = scripted('other', [accept({ answer: 'blue' })]);
    const elicitor = createElicitor({
      handlers: [
        createMcpHandler({ elicit: refuse, capability: {}, priority: 60 }),
        createMcpHandler({ elicit: acceptEmpty, capability: {} }),
        other,
      ],
      timeoutSeconds: 100,
    });
    const outcome = await elicitor.ask({ kind: 'text', message: 'm' });
    expect(outcome).toEqual({ status: 'accepted', value: 'blue', handler: 'other' });
    expect([refused, wrong]).toEqual([10, 10]);
  });

  it('gives an MCP client only what it declared, and never a secret', async () => {
    const elicit = async () => ({ action: 'accept', content: { answer: true } });
    const canOf = async (capability: object | undefined) => {
      const handler = createMcpHandler({ elicit, capability });
      const base = { ask, message: 'm', page: 0, faults: [] };
      return Promise.all([
        handler.canHandle({ ...base, mode: 'form', schema: { type: 'object', properties: {} } }),
        handler.canHandle({ ...base, mode: 'url', url: 'https://example.com' }),
        handler.canHandle({ ...base, mode: 'secret' }),
      ]);
    };
    expect(await canOf(undefined)).toEqual([false, false, false]);
    expect(await canOf({})).toEqual([true, false, false]);
    expect(await canOf({ url: {} })).toEqual([false, true, false]);
    expect(await canOf({ form: {}, url: {} })).toEqual([true, true, false]);
  });
});
