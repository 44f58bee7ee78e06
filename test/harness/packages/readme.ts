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

/** The script of the first page that a README shows. */
export function readmePage(path: string): string {
  const text = readFileSync(new URL(path, ROOT), 'utf8');
  const script = /<script type="module">\n([\s\S]*?)<\/script>/.exec(text)?.[1];
  if (script === undefined) throw new Error(`${path} shows no page`);
  return script;
}
