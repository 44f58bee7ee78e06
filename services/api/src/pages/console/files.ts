import { extname } from 'node:path';
import { z } from 'zod';

/** The built console. */
export interface ConsoleFiles {
  /** The page, which is the same for every path of the console. */
  readonly page: string;
  /** The files that the page loads, by name. A name contains a digest of its file, so a file under one name never changes. */
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

/** Reads the file that the console's build wrote. */
export function parseConsoleFiles(text: string): ConsoleFiles {
  const { page, assets } = Built.parse(JSON.parse(text));
  const known = Object.entries(assets).flatMap(([name, content]) => {
    const type = TYPES[extname(name)];
    return type === undefined ? [] : [[name, { type, text: content }] as const];
  });
  return { page, assets: new Map(known) };
}
