/**
 * The words by which secrets are recognised: passwords, keys, tokens, codes, payment data. The masks of approvals, the refusal
 * of forms that ask for secrets and the scrubbing of server results all use this list. What is done about a secret is not
 * decided here.
 */

/**
 * Names of secrets, which also occur in sentences that ask for a secret. In an entry of several words, the words follow each
 * other.
 */
const SECRETS = listed(`
  password, pass word, passwd, pwd, psw, passphrase, pass phrase, passcode, passkey, credential, cred, authorization,
  api key, access key, private key, secret key, signing key, encryption key, decryption key, master key, shared key, root key,
  session key, service key, account key, storage key, subscription key, license key, licence key, deploy key, wallet key,
  ssh key, hmac key, aes key, rsa key, pgp key, gpg key, access token, auth token, refresh token, id token, bearer token,
  api token, session token, jwt, client secret, client assertion, code verifier, session cookie, connection string, csrf, xsrf,
  otp, totp, one time code, verification code, security code, recovery code, backup code, access code, login code, auth code,
  mfa code, 2fa code, two factor code, unlock code, activation code, pin code, pin number, puk, seed phrase, recovery phrase,
  security answer, secret answer, ssn, social security number, card number, card num, card no, cc number, cc num, credit card,
  debit card, payment card, cvv, cvc, iban, account number, bank account, routing number, sort code,
  passwort, kennwort, geheimnis, geheimzahl, zugangsdaten, anmeldedaten, zugangscode, sicherheitscode, api schlüssel,
  privater schlüssel, geheimer schlüssel, kartennummer, kontonummer, prüfnummer,
  wachtwoord, toegangscode, pincode, lösenord, adgangskode, kodeord, passord, salasana,
  contraseña, clave secreta, clave privada, clave api, clave de acceso, su clave, tu clave, número de tarjeta,
  senha, palavra passe, chave secreta, chave privada, chave de api, número do cartão,
  mot de passe, mdp, code secret, clé api, clé secrète, clé privée, jeton, numéro de carte,
  parola d ordine, chiave segreta, chiave privata, chiave api, codice segreto, numero di carta, parolă,
  hasło, haslo, heslo, jelszó, lozinka, şifre, kata sandi, mật khẩu,
  пароль, парола, лозинка, токен, секретный ключ, приватный ключ, номер карты, пин код,
  κωδικός πρόσβασης, συνθηματικό, كلمة المرور, كلمة السر, رمز عبور, گذرواژه, סיסמה, סיסמא, पासवर्ड`);
/** Words that are often harmless in a sentence; there they name a secret only after `your`. */
const AMBIGUOUS = listed('token, pin, secret, bearer, mnemonic, clave');
/** Words that name a secret only at the end of a name: `db_pass`, but not `pass_rate`. */
const LAST = new Set(listed('pass, auth, cookie, cookies'));
/** Texts that name a secret even inside a longer word, such as `mysecretvalue`. */
const STEMS = listed('passwd, apikey, token, secret');
/** Beginnings of harmless words that contain such a text: tokenizer, secretary, secretion. */
const OTHER_WORDS = listed(
  'tokeniz, tokenis, tokenomi, secretary, secretari, secretair, secretion, secretive, secretly',
);
/** Names of secrets in languages that are written without spaces. */
const UNSPACED = listed(
  '密码, 密碼, 口令, 密钥, 密鑰, 令牌, パスワード, 暗証番号, 秘密鍵, 비밀번호, 암호, 패스워드, รหัสผ่าน',
);

/** Phrases that contain a word of the list but mean a number or a position. */
const HARMLESS = [
  ...listed(
    'max, min, num, total, input, output, prompt, completion, cached, reasoning, thinking, context, used, remaining, stop',
  ).map((counted) => `${counted} tokens`),
  ...listed('page, next, continuation, sync, resume, start, bos, eos, pad, unk, special, cursor').map(
    (place) => `${place} token`,
  ),
  ...listed('max token, max new tokens, number of tokens'),
];
/** Last words that make a name describe something about a secret, not the secret itself: `password_length`. */
const ABOUT = new Set(
  listed(`
    name, names, id, ids, type, types, kind, count, counts, label, hint, policy, length, limit, limits, expiry, expires,
    expiration, ttl, url, uri, endpoint, enabled, required, rotation, budget, usage, strength, manager, method, mode, scheme,
    provider, format, algorithm, status, state, version, path, size, max, min, used, remaining, left, total, at, in, per,
    minute, date, time, seconds, age, less`),
);
/** Words after a name that do not change its meaning. */
const TRAILERS = new Set(listed('confirm, confirmation, repeat, repeated, again, value, text, field, input'));
/** Parts of the names of variables that often hold a secret, such as a database URL with a password. */
const CARRIERS =
  /key(?!board|word|cloak|stone)|token|secret(?!ar)|(?<!by|com|tres)pass(?!enger|ive|age)|credential|auth(?!or(?!i))|private|cookie|signature|dsn|url|uris?$/;

/** Letters of other scripts, each followed by the Latin letter that it resembles. */
const LOOKALIKES = pairsOf(
  'аa вb сc ԁd еe һh нh іi јj кk ӏl мm оo рp ԛq гr ѕs тt уy ѵv ԝw хx үy пn αa βb εe ηn ιi κk μm νv οo ρp τt υu χx ζz ωw γy ' +
    'օo սu հh ոn ցg յj ıi ɑa ɡg łl øo ᴀa ʙb ᴄc ᴅd ᴇe ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz',
);
const DIGIT_LETTERS = pairsOf('0o 1l 3e 4a 5s 7t @a $s !i');
const WINDOW = 4;
const ASCII = /^[ -~]*$/;

/** Whether a name (of a parameter, field, header or variable) is the name of a secret: `dbPassword`, but not `token_count`. */
export function namesSecret(name: string): boolean {
  return isPossible(name) && readingsOf(name).some((words) => !isAbout(words) && isNamed(words));
}

/** Whether a label contains the name of a secret: `Password (min 8)`. */
export function labelsSecret(label: string): boolean {
  return isPossible(label) && readingsOf(label).some(isNamed);
}

/** Whether a sentence is about a secret of its reader. */
export function mentionsSecret(sentence: string): boolean {
  return readingsOf(sentence).some((words) => holds(words, IN_SENTENCES, ' ') || hasUnspaced(words));
}

/** Whether the value of a variable may be or contain a secret; true in case of doubt. */
export function mayHoldSecret(variable: string): boolean {
  return (
    namesSecret(variable) || readingsOf(variable).some((words) => words.some((word) => CARRIERS.test(word)))
  );
}

/** The words of a name or of prose, in lower case and Latin letters, without digits and punctuation. */
export function wordsOf(text: string): string[] {
  return plainWords(withGaps(mapped(clean(text), LOOKALIKES)));
}

/** Inserts a space before each word that only a capital letter marks, as in `camelCase`. */
function withGaps(text: string): string {
  return text.replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2').replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2');
}

/** A cheap first test: whether the letters of a name contain any name of a secret. Most names fail it. */
function isPossible(name: string): boolean {
  return spellingsOf(name).some((spelling) =>
    POSSIBLE.test(spelling.toLowerCase().replace(/[^\p{L}]+/gu, '')),
  );
}

function isNamed(words: readonly string[]): boolean {
  const left = withoutHarmless(words);
  const end = left.findLastIndex((word) => !TRAILERS.has(word));
  return LAST.has(left[end] ?? '') || left.some(isGlued) || holds(left, IN_NAMES, '') || hasUnspaced(left);
}

function isAbout(words: readonly string[]): boolean {
  return ABOUT.has(words.at(-1) ?? '') && !isSecretId(words.slice(-2).join(''));
}

function isGlued(word: string): boolean {
  const left = word.replace(NO_STEMS, ' ');
  return GLUED.test(left) && (!GLUED_ABOUT.test(left) || isSecretId(left));
}

/** For some logins, the id of a secret must be kept secret too. */
function isSecretId(name: string): boolean {
  return /secrets?ids?$/.test(name);
}

/** Whether some consecutive words, joined with `between`, are one of the entries. */
function holds(words: readonly string[], entries: ReadonlySet<string>, between: string): boolean {
  return words.some((_, at) =>
    Array.from({ length: WINDOW }, (_each, more) => words.slice(at, at + more + 1).join(between)).some(
      (part) => entries.has(part),
    ),
  );
}

function hasUnspaced(words: readonly string[]): boolean {
  const text = words.join('');
  return UNSPACED_PLAIN.some((one) => text.includes(one));
}

function withoutHarmless(words: readonly string[]): readonly string[] {
  const text = ` ${words.join(' ')} `;
  return text.replace(HARMLESS_WORDS, '').split(' ').filter(Boolean);
}

/** The words of each spelling, once split at capital letters and once not; a person may read either. */
function readingsOf(text: string): string[][] {
  const written = spellingsOf(text).flatMap((spelling) => [withGaps(spelling), spelling]);
  return [...new Set(written)].map(plainWords);
}

/** The spellings of a text: unchanged, with Latin letters for look-alikes, and also with letters for digits. */
function spellingsOf(text: string): readonly string[] {
  const cleaned = clean(text);
  const folded = ASCII.test(cleaned) ? cleaned : mapped(cleaned, LOOKALIKES);
  const lettered = folded.replace(/(?<=\p{L})[0-9@$!]+(?=\p{L})/gu, (run) => mapped(run, DIGIT_LETTERS));
  return [...new Set([cleaned, folded, lettered])];
}

function mapped(text: string, letters: ReadonlyMap<string, string>): string {
  return [...text].map((letter) => letters.get(letter.toLowerCase()) ?? letter).join('');
}

function listed(text: string): string[] {
  return text.split(',').map((entry) => entry.trim());
}

function pairsOf(pairs: string): ReadonlyMap<string, string> {
  return new Map(pairs.split(' ').map((pair) => [...pair] as [string, string]));
}

/** Normalises a text: one form for equivalent letters, without diacritics and invisible characters. */
function clean(text: string): string {
  if (ASCII.test(text)) return text;
  return text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}\p{DI}]/gu, '')
    .normalize('NFKC');
}

function plainWords(text: string): string[] {
  const words = text
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter(Boolean);
  // Letters that are separated by spaces form one word.
  return words
    .join(' ')
    .replace(/(?<!\p{L})\p{L}(?: \p{L}(?!\p{L})){2,}/gu, (letters) => letters.replaceAll(' ', ''))
    .split(' ')
    .filter(Boolean);
}

const spaced = (entry: string) => plainWords(clean(entry)).join(' ');
const withPlural = (entry: string) => [entry, `${entry}s`];
const PLAIN = SECRETS.map(spaced).flatMap(withPlural);
const IN_NAMES = new Set(
  [...PLAIN, ...AMBIGUOUS.flatMap(withPlural)].map((entry) => entry.replaceAll(' ', '')),
);
const IN_SENTENCES = new Set([
  ...PLAIN,
  ...PLAIN.map((entry) => entry.replaceAll(' ', '')),
  ...AMBIGUOUS.flatMap(withPlural).map((word) => `your ${word}`),
]);
const HARMLESS_PLAIN = HARMLESS.map(spaced);
const HARMLESS_WORDS = new RegExp(` (?:${HARMLESS_PLAIN.join('|')})(?= )`, 'g');
const NO_STEMS = new RegExp(
  [...HARMLESS_PLAIN.map((phrase) => phrase.replaceAll(' ', '')), ...OTHER_WORDS].join('|'),
  'g',
);
// Shorter names occur by chance: "resort code" contains "sort code".
const isLong = (entry: string) => entry.replaceAll(' ', '').length >= (entry.includes(' ') ? 9 : 8);
const GLUED_STEMS = [...STEMS, ...SECRETS.map(spaced).filter(isLong)].join('|').replaceAll(' ', '');
const GLUED = new RegExp(GLUED_STEMS);
const GLUED_ABOUT = new RegExp(`(?:${GLUED_STEMS})s?(?:${[...ABOUT].join('|')})+$`);
const UNSPACED_PLAIN = UNSPACED.map(clean);
const POSSIBLE = new RegExp([...IN_NAMES, ...LAST, ...UNSPACED_PLAIN].join('|'));
