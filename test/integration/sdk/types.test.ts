import type { ContentOf, FormContent, FormSchemaInput, Outcome, ParleyClient } from '@parley/sdk';
import { describe, expectTypeOf, it } from 'vitest';
import { z } from 'zod';

// These are proven by the type check: none of them runs a client.
declare const client: ParleyClient;
type AcceptedOf<T> = Extract<T, { status: 'accepted' }>;
type ContentIn<T> = T extends { content: infer Content } ? Content : never;

const everyField = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 40 },
    age: { type: 'integer', minimum: 0 },
    weight: { type: 'number' },
    agreed: { type: 'boolean' },
    color: { type: 'string', enum: ['red', 'blue'] },
    size: {
      type: 'string',
      oneOf: [
        { const: 's', title: 'Small' },
        { const: 'l', title: 'Large' },
      ],
    },
    tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
    days: { type: 'array', items: { anyOf: [{ const: 'mon', title: 'Monday' }] } },
  },
  required: ['name', 'tags'],
} as const;

describe('types of an answer', () => {
  it('follow a constant schema', () => {
    expectTypeOf<ContentOf<typeof everyField>>().toEqualTypeOf<{
      name: string;
      tags: ('a' | 'b')[];
      age?: number;
      weight?: number;
      agreed?: boolean;
      color?: 'red' | 'blue';
      size?: 's' | 'l';
      days?: 'mon'[];
    }>();
    expectTypeOf(everyField).toExtend<FormSchemaInput>();
  });

  it('follow a schema written into the question, with and without as const', () => {
    const ask = () =>
      client.ask({
        userId: 'ada',
        mode: 'form',
        message: 'Who?',
        requestedSchema: {
          type: 'object',
          properties: { name: { type: 'string' }, color: { type: 'string', enum: ['red', 'blue'] } },
          required: ['name'],
        },
      });
    type Accepted = AcceptedOf<Awaited<ReturnType<typeof ask>>>;
    expectTypeOf<ContentIn<Accepted>>().toEqualTypeOf<{ name: string; color?: 'red' | 'blue' }>();

    const question = { userId: 'ada', mode: 'form', message: 'Who?', requestedSchema: everyField } as const;
    const start = () => client.start(question);
    type Started = Awaited<Awaited<ReturnType<typeof start>>['outcome']>;
    expectTypeOf<ContentIn<AcceptedOf<Started>>>().toEqualTypeOf<ContentOf<typeof everyField>>();
  });

  it('are loose for a schema that is not known until run time', () => {
    expectTypeOf<ContentOf<FormSchemaInput>>().toEqualTypeOf<FormContent>();
    const optional = { type: 'object', properties: { a: { type: 'boolean' } } } as const;
    expectTypeOf<ContentOf<typeof optional>>().toEqualTypeOf<{ a?: boolean }>();
    const names: string[] = ['a'];
    const unsure = { ...optional, required: names };
    expectTypeOf<ContentOf<typeof unsure>>().toEqualTypeOf<{ a?: boolean }>();
  });

  it('are nothing for a url question', () => {
    const ask = () => client.ask({ userId: 'ada', mode: 'url', message: 'Look', url: 'https://a.example' });
    type Accepted = AcceptedOf<Awaited<ReturnType<typeof ask>>>;
    expectTypeOf<ContentIn<Accepted>>().toEqualTypeOf<undefined>();
  });

  it('are there for accepted alone, with a reason for withdrawn alone', () => {
    type Content = { name: string };
    type Other = Exclude<Outcome<Content>, { status: 'accepted' }>;
    expectTypeOf<Other>().not.toHaveProperty('content');
    expectTypeOf<Other['status']>().toEqualTypeOf<'declined' | 'cancelled' | 'expired' | 'withdrawn'>();
    expectTypeOf<Extract<Other, { status: 'withdrawn' }>['reason']>().toEqualTypeOf<string>();
  });

  it('refuse what the subset does not have', () => {
    const nested = () =>
      client.ask({
        userId: 'ada',
        mode: 'form',
        message: 'Where?',
        // @ts-expect-error a form is flat
        requestedSchema: { type: 'object', properties: { place: { type: 'object', properties: {} } } },
      });
    // @ts-expect-error a url question needs its url
    const noUrl = () => client.ask({ userId: 'ada', mode: 'url', message: 'Look' });
    // @ts-expect-error a decline has no content
    const declined = () => client.answer('el_1', { action: 'decline', content: {} });
    expectTypeOf([nested, noUrl, declined]).toBeArray();
  });
});

describe('types of a question', () => {
  const base = { userId: 'ada', message: 'Who?' } as const;

  it('take a schema object and give its output type', () => {
    const ask = () =>
      client.ask({
        ...base,
        mode: 'form',
        requestedSchema: z.object({ age: z.int().min(0), pet: z.enum(['cat', 'dog']).default('cat') }),
      });
    type Accepted = AcceptedOf<Awaited<ReturnType<typeof ask>>>;
    expectTypeOf<ContentIn<Accepted>>().toEqualTypeOf<{ age: number; pet: 'cat' | 'dog' }>();
  });

  it('refuse what the server refuses', () => {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } } as const;
    void (() => [
      // @ts-expect-error a form has no url
      client.ask({ ...base, mode: 'form', requestedSchema, url: 'https://example.com' }),
      // @ts-expect-error a page has no form
      client.ask({ ...base, mode: 'url', url: 'https://example.com', requestedSchema }),
      // @ts-expect-error an unknown key
      client.ask({ ...base, mode: 'form', requestedSchema, timeout: 5 }),
      client.ask({
        ...base,
        mode: 'form',
        // @ts-expect-error a pattern
        requestedSchema: { type: 'object', properties: { name: { type: 'string', pattern: '^a' } } },
      }),
    ]);
  });
});
