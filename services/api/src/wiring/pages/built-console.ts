import { type ConsoleFiles, readConsoleFiles } from '../../pages/console/files.ts';

/** Where builds leave the console: that of this service, and that of the client beside its sources. */
export const CONSOLE_FOLDERS = [
  new URL('../../../dist/console/', import.meta.url),
  new URL('../../../../../clients/console/dist/', import.meta.url),
];

/** The console; undefined where it was not built. A bundle replaces this file by one that holds the console. */
export function builtConsole(): ConsoleFiles | undefined {
  return readConsoleFiles(CONSOLE_FOLDERS);
}
