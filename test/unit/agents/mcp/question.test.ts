import { describe, expect, it } from 'vitest';
import {
  answerFor,
  QuestionRefused,
  readQuestion,
} from '../../../../services/api/src/agents/mcp/questions/question.ts';

const BOTH = { form: true, url: true };
const FIELD = { type: 'object', properties: { city: { type: 'string' } } };

function reasonOf(params: unknown, modes = BOTH): string {
  try {
    readQuestion(params, modes);
    return 'asked';
  } catch (error) {
    if (error instanceof QuestionRefused) return error.message;
    throw error;
  }
}

const asking = (name: string, field: object = { type: 'string' }, message = 'Please answer.') =>
  reasonOf({ message, requestedSchema: { type: 'object', properties: { [name]: field } } });

describe('the parameters of a question', () => {
  it('without a mode are those of a form [MCP25-13 MCP26-13]', () => {
    expect(readQuestion({ message: 'Where?', requestedSchema: FIELD, _meta: {} }, BOTH)).toEqual({
      mode: 'form',
      message: 'Where?',
      requestedSchema: FIELD,
    });
  });

  it('of mode url carry the url, and the id of the 2025 revision', () => {
    const url = { mode: 'url', message: 'Open.', url: 'https://a.example/b' };
    expect(readQuestion(url, BOTH)).toEqual(url);
    expect(readQuestion({ ...url, elicitationId: 'x' }, BOTH)).toEqual({ ...url, serverId: 'x' });
  });

  it.each([
    ['no message', { requestedSchema: FIELD }, BOTH, /message must be a string/],
    ['an unknown mode', { mode: 'voice', message: 'a' }, BOTH, /mode must be form or url/],
    ['no schema', { message: 'a' }, BOTH, /requestedSchema/],
    ['no url', { mode: 'url', message: 'a' }, BOTH, /url is required/],
    [
      'form, undeclared',
      { message: 'a', requestedSchema: FIELD },
      { form: false, url: true },
      /not declared/,
    ],
    [
      'url, undeclared',
      { mode: 'url', message: 'a', url: 'https://a.example' },
      { form: true, url: false },
      /not declared/,
    ],
    ['nothing', undefined, BOTH, /message/],
    ['a long message', { message: 'a'.repeat(10_001), requestedSchema: FIELD }, BOTH, /at most 10000/],
  ])('are refused: %s', (_name, params, modes, reason) => {
    expect(reasonOf(params, modes)).toMatch(reason);
  });
});

describe('a form that asks for a secret', () => {
  it.each([
    ...['password', 'newPassword', 'password_2', 'API_KEY', 'apiKey', 'github-token', 'pin', 'cvv'],
    ...['cardNumber', 'Passwort', 'client_secret', 'privateKey', 'IBAN', 'api_keys', 'otp'],
    ...[
      'ｐａｓｓｗｏｒｄ',
      'pass\u00adword',
      'раssword',
      'passwords',
      'mdp',
      'dbpassword',
      'p-a-s-s-w-o-r-d',
      'passw0rd',
    ],
  ])('is refused by the name of its field: %s', (name) => {
    expect(asking(name)).toMatch(/use mode url/);
    expect(asking('value', { type: 'string', title: name })).toMatch(/use mode url/);
  });

  it('is refused by a message or a description that requests one', () => {
    expect(asking('value', {}, 'Please enter your API key.')).toMatch(/type must be/);
    expect(asking('value', { type: 'string' }, 'Please enter your API key to continue.')).toMatch(
      /use mode url/,
    );
    expect(asking('value', { type: 'string', description: 'Type your current password' })).toMatch(
      /use mode url/,
    );
  });

  it.each([
    ...['What’s the password for the VPN?', "What's your PIN?", 'Password:', 'GitHub token:'],
    ...['The password of the VPN is required.', 'Bitte geben Sie Ihr Passwort ein.', '请输入密码'],
    ...['The VPN is locked. Enter the passphrase.', 'Enter the pass\u200bwords of Ada.'],
    ...['Yоur pаsswоrd, please.', 'Entеr the password of Ada. Ready?', 'Enter your p.a.s.s.w.o.r.d now'],
  ])('is refused by a text that names one: %s', (text) => {
    expect(asking('value', { type: 'string' }, text)).toMatch(/use mode url/);
    expect(asking('value', { type: 'string', description: text })).toMatch(/use mode url/);
  });

  it.each(['Password (min 8)', 'Password (max)', 'Password hint', 'Password length'])(
    'is refused by a title that names one: %s',
    (title) => {
      expect(asking('value', { type: 'string', title })).toMatch(/use mode url/);
    },
  );

  it.each([
    ['Which password policy?', { type: 'string', enum: ['strict', 'lax'] }],
    ['Which message should I pin to the channel?', { type: 'string' }],
    ['How many API keys are there?', { type: 'integer' }],
    ['What should the token limit be?', { type: 'integer' }],
    ['The password of Ada will be reset. Which address gets the link?', { type: 'string' }],
  ])('is not one with a harmless message: %s', (message, field) => {
    expect(asking('value', field, message)).toBe('asked');
  });

  it('is not one with a title that was made from a harmless name', () => {
    expect(asking('token_count', { type: 'integer', title: 'Token Count' })).toBe('asked');
  });

  it.each([
    ['tokenCount', { type: 'integer' }],
    ['secret_name', { type: 'string' }],
    ['resetPassword', { type: 'boolean' }],
    ['tokenType', { type: 'string' }],
    ['token', { type: 'string', enum: ['read', 'write'] }],
    ['shipping', { type: 'string' }],
    ['keyboard', { type: 'string' }],
    ['opinion', { type: 'string' }],
  ])('is not one with a harmless field: %s', (name, field) => {
    expect(asking(name, field)).toBe('asked');
  });

  it('is not one whose message only mentions a secret', () => {
    expect(asking('reason', { type: 'string' }, 'Your password expires soon. Why do you wait?')).toBe(
      'asked',
    );
  });
});

describe('a secret that the form would not show', () => {
  const P = { type: 'string', title: 'Password', description: 'Your password', format: 'password' };
  const shown = { title: 'Value', description: 'The value' };
  const $defs = { P, T: { type: 'string', title: 'Password' } };
  const withP = (field: object, more: object = {}) => ({
    message: 'Please answer.',
    requestedSchema: {
      type: 'object',
      $defs,
      properties: { value: field, city: { type: 'string' } },
      ...more,
    },
  });

  it.each([
    ...['integer', 'number', 'string'].map((type) => ({ type, format: 'password' })),
    ...['secret', 'credit-card', 'Password'].map((format) => ({ type: 'string', format })),
    { type: 'string', writeOnly: true },
    { type: 'string', enum: ['a'], writeOnly: true },
    { type: 'array', items: { enum: ['a'], writeOnly: true } },
    { $ref: '#/$defs/P', format: 'text' },
    { $ref: '#/$defs/T', ...shown },
    { ...shown, anyOf: [{ type: 'string', description: 'Your password' }, { type: 'null' }], default: '' },
    { ...shown, allOf: [{ $ref: '#/$defs/T' }] },
  ])('is not asked: %j', (field) => {
    const question = readQuestion(withP(field), BOTH);
    expect(question).toMatchObject({ requestedSchema: { properties: { city: { type: 'string' } } } });
    expect(
      Object.keys((question as { requestedSchema: { properties: object } }).requestedSchema.properties),
    ).toEqual(['city']);
    const isNullable = 'anyOf' in field;
    expect(reasonOf(withP(field, { required: ['value'] }))).toMatch(
      isNullable ? /asked/ : /value asks for a secret.*mode url/,
    );
  });
});

describe('the answer for the server', () => {
  it.each([
    ['form', 'accepted', { a: 1 }, { action: 'accept', content: { a: 1 } }],
    ['form', 'accepted', undefined, { action: 'accept', content: {} }],
    ['url', 'accepted', undefined, { action: 'accept' }],
    ['form', 'declined', undefined, { action: 'decline' }],
    ['form', 'cancelled', undefined, { action: 'cancel' }],
    ['form', 'expired', undefined, { action: 'cancel' }],
    ['url', 'withdrawn', undefined, { action: 'cancel' }],
  ] as const)('of mode %s that is %s [MCP25-30]', (mode, status, content, expected) => {
    const message = 'Which?';
    const question =
      mode === 'form'
        ? ({ mode, message, requestedSchema: { type: 'object', properties: {} } } as const)
        : ({ mode, message, url: 'https://a.example/' } as const);
    expect(answerFor(question, { status, ...(content !== undefined && { content }) })).toEqual(expected);
  });
});
