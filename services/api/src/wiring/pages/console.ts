import type { Env } from '@parley/shared/config/env';
import type { Surface } from '../../http/route.ts';
import { readConsoleFiles } from '../../pages/console/files.ts';
import { consoleRoutes, noConsoleRoutes } from '../../pages/console/routes.ts';
import { brandOf } from './brand.ts';

/** Where builds leave the console: that of this service, and that of the client beside its sources. */
const CONSOLE_FOLDERS = [
  new URL('../../../dist/console/', import.meta.url),
  new URL('../../../../../clients/console/dist/', import.meta.url),
];

/** Builds the console; where none is configured, a page that says so. */
export function wireConsole(env: Env, folders: readonly URL[] = CONSOLE_FOLDERS): Surface {
  const https = env.PARLEY_PUBLIC_URL?.startsWith('https://') === true;
  if (env.PARLEY_CONSOLE === undefined) return noConsoleRoutes(https);
  return consoleRoutes({ files: readConsoleFiles(folders), https, brand: brandOf(env) });
}
