import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A fenced block of code on a page. */
export interface CodeBlock {
  readonly page: string;
  /** The line of its fence. */
  readonly line: number;
  /** As behind its fence; empty where there is none. */
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a page, without the indentation of a list. */
export function codeBlocksOf(page: string, text: string): CodeBlock[] {
  return [...text.matchAll(/^( *)```(\S*)[^\n]*\n([\s\S]*?)^\1``` *$/gm)].map((match) => {
    const [, indent = '', language = '', code = ''] = match;
    return {
      page,
      line: text.slice(0, match.index).split('\n').length,
      language,
      text: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    };
  });
}

/** A block as a module: its statements are those of a function, in which examples may `return` and `await`. */
export function moduleOf({ text }: Pick<CodeBlock, 'text'>): string {
  const imports = text.match(/^import [\s\S]*?;$/gm) ?? [];
  const rest = imports.reduce((code, one) => code.replace(one, ''), text).replaceAll(/^export /gm, '');
  return `${imports.join('\n')}\nexport async function example(): Promise<unknown> {\n${rest}\nreturn undefined;\n}\n`;
}

/** Names that only the reader has. */
const UNKNOWN_NAMES = ['TS2304', 'TS2552', 'TS18004'];

/** Compiles blocks against the packages of this checkout. Gives what is wrong with them, one line a fault. */
export function compileBlocks(root: string, blocks: readonly CodeBlock[]): string[] {
  const folder = join(root, '.tmp/code-blocks');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [at, block] of blocks.entries())
    writeFileSync(join(folder, `${nameOf(block, at)}.tsx`), moduleOf(block));
  const config = {
    extends: '../../tsconfig.json',
    include: ['.'],
    exclude: [],
    compilerOptions: {
      incremental: false,
      jsx: 'react-jsx',
      noImplicitAny: false,
      noUncheckedIndexedAccess: false,
      noUnusedLocals: false,
      noUnusedParameters: false,
      noImplicitReturns: false,
    },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder, '--singleThreaded'], {
    cwd: folder,
    encoding: 'utf8',
  });
  // Lines that are indented continue a fault, and those that begin with dots are faults of other files under these options.
  return stdout.split('\n').filter((line) => /^[^. ].*: error TS/.test(line) && !isTolerated(line));
}

function isTolerated(line: string): boolean {
  // The components are JavaScript: they have no types with which to say that a value is there.
  const isOfComponent = line.includes('-of-tsx');
  return (
    UNKNOWN_NAMES.some((code) => line.includes(`${code}:`)) || (isOfComponent && line.includes("undefined'"))
  );
}

function nameOf({ page, line, language }: CodeBlock, at: number): string {
  return `${at}-${page.replaceAll(/\W+/g, '-')}-${line}-of-${language}`;
}
