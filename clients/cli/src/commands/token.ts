import { type Command, InvalidArgumentError } from 'commander';
import { type CliContext, isJson, print, printJson, readText } from '../context.ts';
import { usageError } from '../exit-code.ts';
import { signToken } from '../sign-token.ts';

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

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 1)
    throw new InvalidArgumentError('It must be a whole number of seconds.');
  return seconds;
}
