import { extname } from 'node:path';
import { z } from 'zod';

/** The console as it was built. */
export interface ConsoleFiles {
  /** The page, which is the same for every path. */
  readonly page: string;
  /** The files that the page loads, by name. A name holds a digest of its file, so a file never changes. */
  readonly assets: ReadonlyMap<string, ConsoleAsset>;
}

interface ConsoleAsset {
  readonly type: string;
  readonly text: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

const Built = z.object({ page: z.string(), assets: z.record(z.string(), z.string()) });

/** The console in the file that its build has written. */
export function parseConsoleFiles(text: string): ConsoleFiles {
  const { page, assets } = Built.parse(JSON.parse(text));
  const known = Object.entries(assets).flatMap(([name, content]) => {
    const type = TYPES[extname(name)];
    return type === undefined ? [] : [[name, { type, text: content }] as const];
  });
  return { page, assets: new Map(known) };
}
