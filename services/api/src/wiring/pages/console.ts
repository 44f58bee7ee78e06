import { readFileSync } from 'node:fs';
import type { Env } from '@parley/shared/config/env';
import type { OperatorSessions } from '../../http/proof/operator-sessions.ts';
import type { Surface } from '../../http/route.ts';
import { createOperatorSessions } from '../../pages/console/admission.ts';
import { type ConsoleFiles, parseConsoleFiles } from '../../pages/console/files.ts';
import {
  createOidcOperators,
  createTypedOperators,
  type OperatorIdentity,
} from '../../pages/console/identity.ts';
import { createConsoleParts } from '../../pages/console/parts.ts';
import { consoleRoutes, noConsoleRoutes } from '../../pages/console/routes.ts';
import { createKeys, isDevelopment } from '../credentials/vault.ts';
import type { PodParts } from '../pod-parts.ts';
import { pageSettings } from './settings.ts';

interface WiredConsole {
  readonly surface: Surface;
  /** Absent if there is no console. */
  readonly operators?: OperatorSessions;
}

/** Builds the console; where none is configured, a page that says so. Throws EnvError without keys. */
export function wireConsole(parts: PodParts): WiredConsole {
  const { env, log } = parts;
  const { PARLEY_CONSOLE: kind, PARLEY_PUBLIC_URL: publicUrl = '' } = env;
  if (kind === undefined) return { surface: noConsoleRoutes(publicUrl.startsWith('https://')) };
  const console = createConsoleParts({
    ...pageSettings(parts),
    publicUrl,
    files: readBuiltConsole(),
    identity: createOperatorIdentity(env, kind, publicUrl),
    keys: createKeys(env, log),
    idleMs: env.PARLEY_CONSOLE_IDLE_SECONDS * 1_000,
    sessionMs: env.PARLEY_CONSOLE_SESSION_SECONDS * 1_000,
    onSession: (change, requestId) => log.info({ ...change, requestId }, 'operator session'),
  });
  return { surface: consoleRoutes(console), operators: createOperatorSessions(console) };
}

/** How operators sign in. The check of the environment ensures that the settings exist. */
function createOperatorIdentity(
  env: Env,
  kind: NonNullable<Env['PARLEY_CONSOLE']>,
  publicUrl: string,
): OperatorIdentity {
  const tenants = env.PARLEY_CONNECT_TENANTS.length === 0 ? ['default'] : env.PARLEY_CONNECT_TENANTS;
  if (kind === 'dev') return createTypedOperators(tenants);
  const clientSecret = env.PARLEY_CONNECT_OIDC_CLIENT_SECRET;
  return createOidcOperators({
    issuer: env.PARLEY_CONNECT_OIDC_ISSUER ?? '',
    clientId: env.PARLEY_CONNECT_OIDC_CLIENT_ID ?? '',
    ...(clientSecret !== undefined && { clientSecret }),
    redirectUri: `${publicUrl}/console/signed-in`,
    userClaim: env.PARLEY_CONNECT_USER_CLAIM,
    rolesClaim: env.PARLEY_CONSOLE_ROLES_CLAIM ?? '',
    tenants,
    allowLoopbackHttp: isDevelopment(env),
  });
}

/** The built console. Undefined if it was not built before the api was started or bundled. */
function readBuiltConsole(): ConsoleFiles | undefined {
  let text: string;
  try {
    text = readFileSync(new URL('../../../dist/console.json', import.meta.url), 'utf8');
  } catch {
    return undefined;
  }
  return parseConsoleFiles(text);
}
