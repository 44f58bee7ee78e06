import type { TokenSource } from '@parley/core';
import type { Command } from 'commander';
import { type CliContext, type GlobalOptions, readText } from './context.ts';
import { DEV_TENANT, DEV_USER, type DevServer, readDevServer } from './dev/settings.ts';
import { usageError } from './exit-code.ts';
import { homeFolder } from './home.ts';
import { signToken } from './sign-token.ts';

/** The address of Parley and the caller's token. */
export interface CliConnection {
  readonly baseUrl: string;
  readonly token: TokenSource;
}

const DEFAULT_URL = 'http://localhost:3000';
const DAY_SECONDS = 86_400;

/**
 * The connection that options and environment describe, or else that of the local development server. The token is never an
 * argument, because other users of a machine can read arguments.
 */
export function connectionOf(
  command: Command,
  context: CliContext,
  caller: 'service' | 'person',
): CliConnection {
  const { env } = context;
  const { url = env.url, tokenFile } = command.optsWithGlobals<GlobalOptions>();
  if (tokenFile !== undefined) {
    // The file is read for every request, so that another program may renew the token.
    return { baseUrl: url ?? DEFAULT_URL, token: () => readText(tokenFile).trim() };
  }
  if (env.token !== undefined) return { baseUrl: url ?? DEFAULT_URL, token: env.token };
  const dev = developmentServer(command, context);
  if (dev === undefined)
    throw usageError(
      `A token is needed: set PARLEY_TOKEN, name a file with --token-file, or start ${context.calledAs} dev.`,
    );
  const token = () =>
    caller === 'service'
      ? dev.serviceKey
      : signToken({ user: DEV_USER, tenant: DEV_TENANT, secret: dev.jwtSecret, expires: DAY_SECONDS });
  return { baseUrl: dev.url, token };
}

/** The person whom a command asks: from the option, or else the person of the development server. */
export function userOf(command: Command, context: CliContext, user: string | undefined): string {
  if (user !== undefined) return user;
  if (developmentServer(command, context) === undefined) throw usageError('Name the person with --user.');
  return DEV_USER;
}

function developmentServer(command: Command, { env }: CliContext): DevServer | undefined {
  const { url = env.url, tokenFile } = command.optsWithGlobals<GlobalOptions>();
  const isNamed = url !== undefined || tokenFile !== undefined || env.token !== undefined;
  return isNamed ? undefined : readDevServer(homeFolder(env));
}
