import { readFileSync } from 'node:fs';

const ROOT = new URL('../../../', import.meta.url);

/** The block of a README that names its file in its first line, such as `// ask.mjs`. Throws where there is none. */
export function readmeExample(path: string, file: string): string {
  const text = readFileSync(new URL(path, ROOT), 'utf8');
  const block = new RegExp(
    `^\`\`\`\\w+\\n(?://|#) ${file.replaceAll('.', '\\.')}\\n([\\s\\S]*?)^\`\`\`$`,
    'm',
  ).exec(text)?.[1];
  if (block === undefined) throw new Error(`${path} has no example ${file}`);
  return block;
}

/** A block of a page: its language, and its text. A text that is a file begins with a comment of its name. */
export interface PageBlock {
  readonly language: string;
  readonly text: string;
  readonly file: string | undefined;
}

/** All blocks of a page, in their order. */
export function pageBlocks(path: string): readonly PageBlock[] {
  const text = readFileSync(new URL(path, ROOT), 'utf8');
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', block = '']) => ({
    language,
    text: block,
    file: /^(?:\/\/|#|<!--) ([\w-]+\.\w+)(?: -->)?\n/.exec(block)?.[1],
  }));
}

/** The script of the first page that a README shows. */
export function readmePage(path: string): string {
  const text = readFileSync(new URL(path, ROOT), 'utf8');
  const script = /<script type="module">\n([\s\S]*?)<\/script>/.exec(text)?.[1];
  if (script === undefined) throw new Error(`${path} shows no page`);
  return script;
}
