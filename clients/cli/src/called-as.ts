import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join, sep } from 'node:path';

export interface Start {
  /** The file that Node is running. */
  readonly program: string;
  /** The folder in which the command will be typed; undefined for a command that must work in any folder. */
  readonly folder: string | undefined;
  /** The value of `PATH`. */
  readonly path: string;
  /** The executable of Node. */
  readonly node: string;
}

const NAME = 'parley';
/** The call for a program that is installed in a folder of the person. */
const LOCAL_CALL = `npx ${NAME}`;
const LOCAL_BIN = join('node_modules', '.bin');

/**
 * What a person types to start this program again: `parley` if the shell finds it, `npx parley` in a folder with an
 * installation, or else Node with the path of the program.
 */
export function calledAs({ program, folder, path, node }: Start): string {
  const own = realPath(program);
  const isOwn = (file: string) => own !== undefined && realPath(file) === own;
  // npx and `npm run` add such folders to PATH only while they run a program.
  const folders = path.split(delimiter).filter((one) => one !== '' && !one.endsWith(LOCAL_BIN));
  const find = (name: string) => folders.map((one) => join(one, name)).find((file) => existsSync(file));
  const inShell = find(NAME);
  if (inShell !== undefined && isOwn(inShell)) return NAME;
  const nearest = (folder === undefined ? [] : ancestorsOf(folder))
    .map((one) => join(one, LOCAL_BIN, NAME))
    .find((file) => existsSync(file));
  if (nearest !== undefined && isOwn(nearest)) return LOCAL_CALL;
  const isUsual = realPath(find('node') ?? '') === realPath(node);
  return [isUsual ? 'node' : node, program].map((word) => shellWord(word)).join(' ');
}

/** Quotes one word of a command line if the shell requires it. */
export function shellWord(word: string, isWindows = process.platform === 'win32'): string {
  if (/^[\w./:@%+=-]+$/.test(word) || (isWindows && /^[\w.\\/:@+=-]+$/.test(word))) return word;
  return isWindows ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`;
}

function ancestorsOf(folder: string): readonly string[] {
  const parts = folder.split(sep);
  return parts.map((_, at) => parts.slice(0, parts.length - at).join(sep) || sep);
}

function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
