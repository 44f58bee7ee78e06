import { randomUUID } from 'node:crypto';
import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import type { Action } from '@parley/core/domain/elicitations/status';
import type { Owner, StreamRef } from '@parley/core/domain/ids';
import type { Caller, Seen } from '@parley/shared/domain/caller';
import type { ResponseInput } from '@parley/shared/domain/elicitations/response-input';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Column, Kind } from '../tables/elicitation-transitions.ts';

/** Part of every tenant's name in this run. */
export const RUN = randomUUID();

/** A new user in a new tenant. */
export function newOwner(): Owner {
  return { tenant: `tenant-${RUN}-${randomUUID()}`, userId: 'user@example.com' };
}

export function newStream(owner: Owner = newOwner()): StreamRef {
  return { tenant: owner.tenant, userId: owner.userId, streamRequestId: `stream-${randomUUID()}` };
}

export function serviceOf({ tenant }: Owner): Caller {
  return { kind: 'service', tenant };
}

export function userOf({ tenant, userId }: Owner): Caller & { readonly kind: 'user' } {
  return { kind: 'user', tenant, userId };
}

const COLOURS = { type: 'string', enum: ['red', 'green', 'blue', 'white', 'black'] };

const FORM = {
  mode: 'form',
  message: 'Which colour?',
  requestedSchema: {
    type: 'object',
    properties: { colour: COLOURS, note: { type: 'string' } },
    required: ['colour'],
  },
  timeoutSeconds: 600,
} as const;

/** What to ask for each kind, without the person. */
export const QUESTIONS = {
  form: FORM,
  'form on its page': FORM,
  'url, client completion': {
    mode: 'url',
    message: 'Please look at this page.',
    url: 'https://pages.example/one',
    timeoutSeconds: 600,
  },
  'url, server completion': {
    mode: 'url',
    message: 'Please connect your account.',
    url: 'https://pages.example/two',
    completion: 'server',
    timeoutSeconds: 600,
  },
} as const satisfies Readonly<Record<Kind, Omit<AskInput, 'userId'>>>;

/** What to send to ask `owner`: a form question, unless `more` brings a mode of its own. */
export function inputFor(owner: Owner & Partial<StreamRef>, more: Partial<AskInput> = {}): AskInput {
  const { userId, streamRequestId } = owner;
  const base =
    more.mode === undefined ? QUESTIONS.form : { mode: more.mode, message: '?', timeoutSeconds: 600 };
  return { ...base, userId, ...(streamRequestId !== undefined && { streamRequestId }), ...more };
}

/** Asks `owner` what `inputFor` makes of it. */
export function askQuestion(engine: Engine, owner: Owner & Partial<StreamRef>, more: Partial<AskInput> = {}) {
  return engine.ask({ tenant: owner.tenant, input: inputFor(owner, more) });
}

/** Asks a new user. */
export async function askSomebody(engine: Engine, more: Partial<AskInput> = {}) {
  const owner = newOwner();
  return { owner, ...(await askQuestion(engine, owner, more)) };
}

/** Asks a new user on a new stream request. */
export async function askOnStream(engine: Engine, more: Partial<AskInput> = {}) {
  const stream = newStream();
  return { stream, ...(await askQuestion(engine, stream, more)) };
}

/** Asks a question of a kind of the transition table. */
export function askKind(engine: Engine, stream: StreamRef, kind: Kind, more: Partial<AskInput> = {}) {
  return engine.ask({
    tenant: stream.tenant,
    input: inputFor(stream, { ...QUESTIONS[kind], ...more }),
    onAnswerPage: kind === 'form on its page',
  });
}

/** Answers as the owner. */
export function answerQuestion(
  engine: Engine,
  owner: Owner,
  id: string,
  action: Action,
  content?: ResponseInput['content'],
): Promise<Seen> {
  const response = { action, ...(content !== undefined && { content }) };
  return engine.answer({ caller: userOf(owner), id, response, surface: 'test' });
}

/** The content that goes with a column's accept, by kind. */
export function contentFor(kind: Kind, column: Column): Record<string, unknown> | undefined {
  if (!kind.startsWith('form')) return column === 'wrong' ? {} : undefined;
  const colour = { accept: 'red', other: 'green', wrong: 'mauve' }[column as string];
  return colour === undefined ? undefined : { colour };
}

/** Sends a column's command through the engine. `expire` gives the row as it stands afterwards. */
export async function send(
  engine: Engine,
  owner: Owner,
  id: string,
  kind: Kind,
  column: Column,
): Promise<Seen> {
  const caller = serviceOf(owner);
  switch (column) {
    case 'open':
    case 'accept':
    case 'other':
    case 'wrong':
      return answerQuestion(engine, owner, id, 'accept', contentFor(kind, column));
    case 'decline':
    case 'cancel':
      return answerQuestion(engine, owner, id, column);
    case 'laden':
      return answerQuestion(engine, owner, id, 'decline', {});
    case 'complete':
      return engine.complete({ caller, id, surface: 'test' });
    case 'withdraw':
      return engine.withdraw({ caller, id, reason: 'superseded' });
    case 'expire':
      await engine.expire(id);
      return engine.read(caller, id);
  }
}
