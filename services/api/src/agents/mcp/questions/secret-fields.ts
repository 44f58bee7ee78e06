import type { FormSchema } from '@parley/shared/domain/forms/schema';

/**
 * Words for what must never be asked for by form (MCP: passwords, API keys, access tokens, payment data). Several words
 * must follow each other.
 */
const SECRETS = [
  ...[
    'password',
    'passwd',
    'pwd',
    'passphrase',
    'passcode',
    'secret',
    'secrets',
    'credential',
    'credentials',
  ],
  ...[
    'apikey',
    'api key',
    'access key',
    'private key',
    'secret key',
    'signing key',
    'encryption key',
    'ssh key',
  ],
  ...[
    'token',
    'accesstoken',
    'authtoken',
    'bearer',
    'jwt',
    'pin',
    'pin code',
    'otp',
    'totp',
    'one time code',
  ],
  ...['verification code', 'security code', 'recovery code', 'backup code', 'seed phrase', 'mnemonic'],
  ...['card number', 'credit card', 'debit card', 'cardnumber', 'cvv', 'cvc', 'iban', 'account number'],
  ...[
    'passwort',
    'kennwort',
    'geheimnis',
    'contraseña',
    'senha',
    'mot de passe',
    'пароль',
    '密码',
    'パスワード',
  ],
];
/** Last words of a name that make it one about a secret, not the secret itself. */
const ABOUT = new Set(
  'name names id ids type types kind count counts label hint policy length limit limits expiry expiration ttl url uri enabled required rotation budget usage strength manager'.split(
    ' ',
  ),
);
/** Words that mean something harmless in many sentences: there they name a secret only after `your`. */
const AMBIGUOUS = new Set(['token', 'pin', 'secret', 'secrets', 'bearer', 'mnemonic']);
/** Words of languages that are written without spaces. */
const UNSPACED = ['密码', 'パスワード'];
const IN_SENTENCES = SECRETS.map((secret) => (AMBIGUOUS.has(secret) ? `your ${secret}` : secret));
const LABEL_WORDS_MAX = 3;
const REQUEST = /\b(?:enter|provide|paste|type|supply|give|send|share|confirm|tell|need|please)\b/iu;

/**
 * The fault of a form that asks for a secret, or undefined. Only fields for free text or numbers can take a secret; a
 * yes or no and a choice cannot. A field is refused by its name or its title, and by a message or description that
 * names a secret. In doubt it refuses: a url question is the safe way. The cost is linear in the length of the texts.
 */
export function faultOfSecrets(message: string, schema: FormSchema): string | undefined {
  const isAsked = asksForSecret(message) || asksForSecret(schema.description ?? '');
  for (const [name, field] of Object.entries(schema.properties)) {
    const isChoice = field.type === 'string' && ('enum' in field || 'oneOf' in field);
    if (field.type === 'boolean' || field.type === 'array' || isChoice) continue;
    if (isAsked || isSecretField(name, field.title) || asksForSecret(field.description ?? ''))
      return `requestedSchema.properties.${name} asks for a secret. Passwords, keys, tokens and payment data must not be requested by form: use mode url`;
  }
  return undefined;
}

function isSecretField(name: string, title = ''): boolean {
  const words = wordsOf(name);
  const titleWords = wordsOf(title);
  const isAbout = ABOUT.has(words.at(-1) ?? '');
  // Generators of schemas make the title from the name.
  const isDerived = titleWords.join(' ') === words.join(' ');
  return (!isAbout && names(words, SECRETS)) || (!(isAbout && isDerived) && names(titleWords, SECRETS));
}

/**
 * Whether a text names a secret, with or without a verb. Where the text asks a question, statements beside the question
 * may mention a secret.
 */
function asksForSecret(text: string): boolean {
  const sentences = text.match(/[^.?!。？！\n]+[.?!。？！\n]?/gu) ?? [];
  const hasQuestion = sentences.some((sentence) => /[?？]$/u.test(sentence));
  return sentences.some((sentence) => {
    const words = wordsOf(sentence);
    const isLabel = words.length <= LABEL_WORDS_MAX;
    const isMention = hasQuestion && !isLabel && /[.!。！]$/u.test(sentence) && !REQUEST.test(sentence);
    return !isMention && names(words, isLabel ? SECRETS : IN_SENTENCES);
  });
}

function names(words: readonly string[], secrets: readonly string[]): boolean {
  const text = ` ${words.join(' ')} `;
  return secrets.some((secret) => text.includes(` ${secret} `)) || UNSPACED.some((one) => text.includes(one));
}

/** The words of `camelCase`, `snake_case`, `kebab-case` and prose, in lower case, without digits. */
function wordsOf(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{M}]+/u)
    .filter((word) => word !== '');
}
