import { type Command, InvalidArgumentError } from 'commander';
import { type CliContext, isJson, print, printJson, readText } from '../context.ts';
import { DEV_TENANT, readDevServer } from '../dev/settings.ts';
import { usageError } from '../exit-code.ts';
import { homeFolder } from '../home.ts';
import { signToken } from '../sign-token.ts';

interface TokenFlags {
  readonly tenant: string;
  readonly expires: number;
  readonly secretFile?: string;
  readonly audience?: string;
  readonly issuer?: string;
}

const DAY_SECONDS = 86_400;

/** `parley token`: a token for a person, signed with the secret of the pods, for trying things out. */
export function registerToken(program: Command, context: CliContext): void {
  const command = program
    .command('token')
    .description(
      "print a person's token for try-outs, signed with PARLEY_JWT_SECRET, else for the development server",
    )
    .argument('<user>', 'the person')
    .argument('[tenant]', 'their tenant; without it default, or that of the development server')
    .option('--expires <seconds>', 'how long the token is valid', secondsOf, DAY_SECONDS)
    .option('--audience <name>', 'the claim aud, for a server with PARLEY_JWT_AUDIENCE')
    .option('--issuer <name>', 'the claim iss, for a server with PARLEY_JWT_ISSUER')
    .option('--secret-file <path>', 'read the secret from a file instead of PARLEY_JWT_SECRET')
    .action((user: string, named: string | undefined, flags: Omit<TokenFlags, 'tenant'>) => {
      const given =
        flags.secretFile === undefined ? context.env.jwtSecret : readText(flags.secretFile).trim();
      const secret = given ?? readDevServer(homeFolder(context.env))?.jwtSecret;
      if (secret === undefined) throw usageError('Set PARLEY_JWT_SECRET to the secret of the pods.');
      const tenant = named ?? (given === undefined ? DEV_TENANT : 'default');
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
