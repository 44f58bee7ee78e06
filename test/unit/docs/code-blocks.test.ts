import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { groupsOf } from '../../../infra/site/navigation.ts';
import { type CodeBlock, codeBlocksOf, compileBlocks, moduleOf } from '../../harness/docs/code-blocks.ts';
import { testNotRun } from '../../harness/not-run.ts';
import { onPath } from '../../harness/on-path.ts';
import { isFullSize } from '../../harness/proof-size.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');
const blocks = groupsOf(root)
  .flatMap(({ pages }) => pages)
  .flatMap(({ path }) => codeBlocksOf(path, read(path)));
const scripts = Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts);

function inLanguage(...languages: readonly string[]): CodeBlock[] {
  const found = blocks.filter(({ language }) => languages.includes(language));
  expect(found.length).toBeGreaterThan(0);
  return found;
}

/** Where each faulty block stands, with its fault. */
async function faultsOf(
  some: readonly CodeBlock[],
  check: (block: CodeBlock) => unknown,
): Promise<readonly string[]> {
  const faults = await Promise.all(
    some.map(async (block) => {
      try {
        await check(block);
        return [];
      } catch (error) {
        return [`${block.page}:${block.line}: ${String(error)}`];
      }
    }),
  );
  return faults.flat();
}

describe('a block of code in the docs', () => {
  it('has a language that this file knows', () => {
    const known = ['ts', 'tsx', 'js', 'jsx', 'json', 'yaml', 'sh', 'python', 'html', 'mermaid', 'text', ''];
    expect(
      [...new Set(blocks.map(({ language }) => language))].filter((one) => !known.includes(one)),
    ).toEqual([]);
  });

  it('is TypeScript or JavaScript that parses', async () => {
    const parse = (block: CodeBlock) => transform(moduleOf(block), { loader: 'tsx', logLevel: 'silent' });
    expect(await faultsOf(inLanguage('ts', 'tsx', 'js', 'jsx'), parse)).toEqual([]);
  });

  it('is JSON that parses', async () => {
    expect(await faultsOf(inLanguage('json'), ({ text }) => JSON.parse(text))).toEqual([]);
  });

  it('is YAML without a fault', async () => {
    const parse = ({ text }: CodeBlock) => {
      for (const { errors, warnings } of parseAllDocuments(text))
        expect([...errors, ...warnings]).toEqual([]);
    };
    expect(await faultsOf(inLanguage('yaml'), parse)).toEqual([]);
  });

  it('is a shell script that bash can read', () => {
    // Each block is a function, so that one process reads them all.
    const functions = inLanguage('sh').map(
      ({ page, line, text }) => `# ${page}:${line}\nexample() {\n:\n${text}\n}`,
    );
    const { stderr } = spawnSync('bash', ['-n'], { input: functions.join('\n'), encoding: 'utf8' });
    expect(stderr).toBe('');
  });

  it('is Python that parses', (context) => {
    const python = onPath('python3');
    if (python === undefined) return testNotRun(context, 'there is no python3');
    const program = 'import ast, json, sys\nfor text in json.load(sys.stdin): ast.parse(text)';
    const input = JSON.stringify(inLanguage('python').map(({ text }) => text));
    const { stderr } = spawnSync(python, ['-c', program], { input, encoding: 'utf8' });
    expect(stderr).toBe('');
  });

  it('calls scripts of package.json and commands of parley that exist', () => {
    const called = inLanguage('sh').flatMap(({ text }) => [
      ...text.matchAll(/npm run (?:-\S+ )*([a-z][\w:-]*)/g),
    ]);
    expect(called.map(([, script = '']) => script).filter((script) => !scripts.includes(script))).toEqual([]);
    const program = read('clients/cli/src/program.ts');
    const commands = inLanguage('sh').flatMap(({ text }) => [
      ...text.matchAll(/(?:^|npx |[|(] *)parley ([a-z]+)/gm),
    ]);
    const unknown = commands
      .map(([, command = '']) => command)
      .filter(
        (command) => !program.includes(`{ register${command.charAt(0).toUpperCase()}${command.slice(1)} }`),
      );
    expect(unknown).toEqual([]);
  });

  if (isFullSize)
    it('is TypeScript that compiles, up to the names that the reader has', () => {
      expect(compileBlocks(root, inLanguage('ts', 'tsx'))).toEqual([]);
    });
});
