import { labelsSecret, mayHoldSecret, mentionsSecret, namesSecret } from '@parley/shared/domain/secret-words';
import { describe, expect, it } from 'vitest';

const listed = (text: string) => text.split(',').map((name) => name.trim());

/** Names that usual tools, libraries and providers give to secrets. */
const NAMES = listed(`
  password, passwd, pwd, pass, db_pass, passphrase, passcode, pin, pinCode, otp, totp, mfa_code, token,
  tokens, access_token, refreshToken, id-token, bearer, jwt, auth, Authorization, X-Api-Key, apiKey,
  api_keys, APIKEY, openai_api_key, secret, client_secret, AWS_SECRET_ACCESS_KEY, privateKey,
  private_key_pem, signing-key, encryptionKey, accountKey, session_key, session_token, Set-Cookie, cookie,
  credentials, creds, connection_string, iban, card_number, cardNumber, ccNumber, cvv, cvc2, ssn,
  verificationCode, backup_codes, recovery_code, seedPhrase, mnemonic, security_answer, code_verifier,
  dbpassword, userpasswd, accesstoken, authtoken, clientsecret, PGPASSWORD, new_password_2, passwordConfirm,
  account_number, csrf, puk, accounts.0.password, pass_word, awssecretaccesskey, AWSSECRETACCESSKEY,
  clientsecretkey, mysecretvalue, tokenvalue, privatekeypem, authorizationheader, secretstring,
  credentialsjson, secret_id, roleSecretId, userpasscode, tokenizersecret, maxtokenssecret, awsaccesskey,
  dbconnectionstring, usercreditcard, kundenzugangsdaten`);
/** The same in other languages. */
const FOREIGN = listed(`
  Passwort, kundenpasswort, Kennwort, apiSchlüssel, contraseña, contrasena, clave, senha, mot_de_passe,
  motDePasse, mdp, clé_privée, wachtwoord, lösenord, hasło, haslo, heslo, jelszó, şifre, sifre, пароль,
  Пароль, парола, секретный_ключ, κωδικός πρόσβασης, كلمة المرور, סיסמה, पासवर्ड, รหัสผ่าน, 密码, 登录密码, 密鑰,
  パスワード, 暗証番号, 비밀번호`);
/** The same, written so that a list of words does not find them. */
const DISGUISED = listed(`
  pass\u00adword, pa\u200bss\u2060word, ｐａｓｓｗｏｒｄ, 𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝, раssword, раѕѕwоrd, PАSSWОRD, apі_kеy, ρassword,
  tоken, p̲assword, pássword, passw0rd, p@ssw0rd, pa$$word, p-a-s-s-w-o-r-d, P I N, pAsSwOrD, pass-word,
  t\u{e0041}oken, sec\u034fret, ꜱᴇᴄʀᴇᴛ, sе\u200dcret`);
const HARMLESS = listed(`
  max_tokens, maxTokens, token_count, tokenCount, input_tokens, total_tokens, max_new_tokens, tokens_used,
  page_token, nextPageToken, continuation-token, token_type, tokenizer, secret_name, secretary,
  passwordHint, keyboard, key, keyword, primary_key, foreign_key, public_key, partitionKey, pinned,
  shipping, opinion, spin, bypass, compass, passenger, pass_rate, passed, author, authority, auth_type,
  cookie_policy, card, cardholder, discard, number, phone_number, order_number, code, country_code,
  zip_code, url, password_expires_at, private_key_path, signature, message, title, description, accountId,
  amount, maxtokens, nextpagetoken, tokencount, tokenexpiresat, passwordminlength, secretname, secretsmanager,
  token_id, tokenized, Tokenisierung, tokenomics, secretariat, secretaría, secretion, tokenUsageTotal,
  credentialid, accesskeyid, `);

describe('the name of a secret', () => {
  it.each([...NAMES, ...FOREIGN, ...DISGUISED])('is known: %s', (name) => {
    expect(namesSecret(name)).toBe(true);
    expect(labelsSecret(name)).toBe(true);
    expect(mayHoldSecret(name)).toBe(true);
  });

  it('is known with other words at both of its sides, however they are written', () => {
    const stems = listed(
      'password, passphrase, passcode, secret, token, apiKey, credential, privateKey, authorization',
    );
    const names = stems.flatMap((stem) =>
      ['', 'my', 'aws', 'user'].flatMap((before) =>
        ['', 's', 'value', 'key', 'pem', 'json', 'data', 'header'].map((after) => before + stem + after),
      ),
    );
    const all = names.flatMap((name) => [name, name.toLowerCase(), name.toUpperCase(), `${name}_1`]);
    expect(all.filter((name) => !namesSecret(name))).toEqual([]);
  });

  it.each(HARMLESS)('is not %j', (name) => {
    expect(namesSecret(name)).toBe(false);
  });

  it.each(['Password (min 8)', 'Password hint', 'Ihr Passwort', 'Token type'])(
    'is in the label %s',
    (label) => {
      expect(labelsSecret(label)).toBe(true);
    },
  );

  it.each<readonly [string, boolean]>([
    ['DATABASE_URL', true],
    ['SENTRY_DSN', true],
    ['LICENSEE_KEY', true],
    ['AUTH_HEADER', true],
    ...listed(`
      OPENAIKEY, STRIPEKEY, AUTHKEY, PRIVKEY, DBURL, REDISURL, JDBCURL, DATABASE_URLS, BROKER_URLS,
      SENTRYDSN, OAUTH, BASICAUTH, HTTP_AUTHENTICATION, PRIVATEKEYPEM`).map((name) => [name, true] as const),
    ['MONGOURI', true],
    ['LOG_LEVEL', false],
    ['SECURITY_LEVEL', false],
    ['PATH', false],
    ['REGION', false],
    ...listed(
      'GIT_AUTHOR_NAME, KEYBOARD_LAYOUT, KEYCLOAK_HOST, KEYWORDS, BYPASS_HOSTS, COMPASS_MODE, SECRETARY',
    ).map((name) => [name, false] as const),
  ])('may be that of the variable %s: %s', (variable, may) => {
    expect(mayHoldSecret(variable)).toBe(may);
  });
});

describe('a sentence', () => {
  it.each([
    'Please enter your API keys.',
    'Type the pass\u00adword',
    'What is your PIN?',
    'Enter your ｔｏｋｅｎ',
    'Ваш пароль?',
    '请输入密码',
    'The раssphrase of the VPN',
    'Introduzca su clave',
    'Enter your credentials',
  ])('mentions one: %s', (sentence) => {
    expect(mentionsSecret(sentence)).toBe(true);
  });

  it.each([
    'Which message should I pin to the channel?',
    'What should the token limit be?',
    'Should I ban this user?',
    'Did the tests pass?',
    'Who is the author?',
    'Which keyboard?',
    'Is this no secret any more?',
  ])('mentions none: %s', (sentence) => {
    expect(mentionsSecret(sentence)).toBe(false);
  });
});
