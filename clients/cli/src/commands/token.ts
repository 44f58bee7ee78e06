import { createHmac } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { type CliContext, isJson, print, printJson, readText } from '../context.ts';
import { usageError } from '../exit-code.ts';

interface TokenFlags {
  readonly tenant: string;
  readonly expires: number;
  readonly secretFile?: string;
  readonly audience?: string;
  readonly issuer?: string;
}

const DAY_SECONDS = 86_400;

/** `parley token`: a person's token for try-outs, signed with the secret of the pods. */
export function registerToken(program: Command, context: CliContext): void {
  const command = program
    .command('token')
    .description("print a person's token for try-outs, signed with PARLEY_JWT_SECRET")
    .argument('<user>', 'the person')
    .argument('[tenant]', 'their tenant', 'default')
    .option('--expires <seconds>', 'how long the token is valid', secondsOf, DAY_SECONDS)
    .option('--audience <name>', 'the claim aud, for a server with PARLEY_JWT_AUDIENCE')
    .option('--issuer <name>', 'the claim iss, for a server with PARLEY_JWT_ISSUER')
    .option('--secret-file <path>', 'read the secret from a file instead of PARLEY_JWT_SECRET')
    .action((user: string, tenant: string, flags: Omit<TokenFlags, 'tenant'>) => {
      const secret =
        flags.secretFile === undefined ? context.env.jwtSecret : readText(flags.secretFile).trim();
      if (secret === undefined) throw usageError('Set PARLEY_JWT_SECRET to the secret of the pods.');
      const token = signToken({ ...flags, user, tenant, secret });
      if (isJson(command)) printJson(context, { token, user, tenant, expiresInSeconds: flags.expires });
      else print(context, token);
    });
}

interface TokenClaims extends TokenFlags {
  readonly user: string;
  readonly secret: string;
}

/** A JSON Web Token (RFC 7519) with HS256. */
export function signToken({ user, tenant, secret, expires, audience, issuer }: TokenClaims): string {
  const now = Math.floor(Date.now() / 1_000);
  const claims = { sub: user, tenant, iat: now, exp: now + expires, aud: audience, iss: issuer };
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 1)
    throw new InvalidArgumentError('It must be a whole number of seconds.');
  return seconds;
}
