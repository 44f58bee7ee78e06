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
  'name names id ids type types kind count counts label hint policy length limit limits expiry expiration ttl url uri enabled required rotation max min budget usage strength manager'.split(
    ' ',
  ),
);
const REQUEST =
  /\b(?:enter|provide|paste|type|supply|give|send|share|confirm|what is|need)\b[^.?!\n]{0,80}?\b(?:password|passphrase|passcode|api[ -]?key|access[ -]?token|secret[ -]?key|private[ -]?key|card number|cvv|cvc|seed phrase)\b/iu;

/**
 * The fault of a form that asks for a secret, or undefined. Only fields for free text or numbers can take a secret; a
 * yes or no and a choice cannot. A field is refused by its name or its title, and by a message or description that
 * requests a secret. In doubt it refuses: a url question is the safe way.
 */
export function faultOfSecrets(message: string, schema: FormSchema): string | undefined {
  for (const [name, field] of Object.entries(schema.properties)) {
    const isChoice = field.type === 'string' && ('enum' in field || 'oneOf' in field);
    if (field.type === 'boolean' || field.type === 'array' || isChoice) continue;
    const asks = [message, field.description ?? '', schema.description ?? ''].some((text) =>
      REQUEST.test(text),
    );
    if (asks || namesSecret(name) || namesSecret(field.title ?? ''))
      return `requestedSchema.properties.${name} asks for a secret. Passwords, keys, tokens and payment data must not be requested by form: use mode url`;
  }
  return undefined;
}

function namesSecret(name: string): boolean {
  const words = wordsOf(name);
  if (ABOUT.has(words.at(-1) ?? '')) return false;
  const text = ` ${words.join(' ')} `;
  return SECRETS.some((secret) => text.includes(` ${secret} `));
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
