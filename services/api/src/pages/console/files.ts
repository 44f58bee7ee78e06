import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';

/** The console as it was built. */
export interface ConsoleFiles {
  /** One page for every path. */
  readonly page: string;
  /** What the page loads, by name. A name holds a digest of its file, so a file never changes. */
  readonly assets: ReadonlyMap<string, ConsoleAsset>;
}

interface ConsoleAsset {
  readonly type: string;
  readonly text: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Reads the first of these folders in which a console was built; undefined where it was built in none. */
export function readConsoleFiles(folders: readonly URL[]): ConsoleFiles | undefined {
  for (const folder of folders) {
    const page = readIfThere(new URL('index.html', folder));
    if (page !== undefined) return { page, assets: readAssets(new URL('assets/', folder)) };
  }
  return undefined;
}

function readAssets(folder: URL): ConsoleFiles['assets'] {
  const names = readdirSync(folder).filter((name) => TYPES[extname(name)] !== undefined);
  return new Map(
    names.map((name) => [
      name,
      { type: TYPES[extname(name)] ?? '', text: readFileSync(new URL(name, folder), 'utf8') },
    ]),
  );
}

function readIfThere(file: URL): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
