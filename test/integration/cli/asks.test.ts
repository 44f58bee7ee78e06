/** Questions of the elicitation layer in a pseudo-terminal: sensitive ones, nested ones, one that is late, and no terminal. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Keys } from '../../harness/cli/kinds.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { bundleEntry } from '../../harness/processes/bundle.ts';
import { hasTmux, openTerminal } from '../../harness/tmux.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { pressAll } from './typing.ts';

const press = (...names: readonly string[]): Keys[] => names.map((name) => ({ press: name }));

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-asks-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A terminal with one scene of the program, and its outcomes when it has ended. */
async function open(scene: string, { plain = false, input = '', env = {} } = {}) {
  const file = join(await newFolder(), 'outcomes.json');
  const program = await bundleEntry('test/integration/cli/asks-program.ts');
  const flags = plain ? ' --plain' : '';
  const line = `'${process.execPath}' '${program}' ${scene} '${file}'${flags}${input}`;
  const terminal = await openTerminal(['sh', '-c', line], { env });
  onTestFinished(terminal.close);
  return {
    terminal,
    async outcomes() {
      await terminal.untilEnded();
      return JSON.parse(await readFile(file, 'utf8'));
    },
  };
}

const accepted = (value: unknown) => ({ status: 'accepted', value, handler: 'terminal' });
const CHOSEN = [accepted('migraine'), accepted(['aspirin', 'codeine']), accepted('blue')];

function suite(): void {
  it('shows no sensitive choice once it is made', async () => {
    const { terminal, outcomes } = await open('sensitive');
    await terminal.untilShown(/Which illness\?[\s\S]*asthma[\s\S]*migraine/);
    await pressAll(terminal, press('Down', 'Enter'));
    await terminal.untilShown(/Which illness\?[\s\S]*not shown[\s\S]*Which drugs\?[\s\S]*aspirin/);
    expect(await terminal.screen()).not.toMatch(/asthma|migraine/);
    // None is refused; the prompt is then drawn again with its choices.
    await pressAll(terminal, press('Enter'));
    await terminal.untilShown(/at least 1 choices[\s\S]*aspirin/);
    await pressAll(terminal, press('Space', 'Down', 'Space', 'Enter'));
    await terminal.untilShown(/Which colour\?[\s\S]*red/);
    await pressAll(terminal, press('Down', 'Enter'));
    expect(await outcomes()).toEqual(CHOSEN);
    const screen = await terminal.screen();
    expect(screen).not.toMatch(/asthma|migraine|aspirin|codeine/);
    // A choice that is not sensitive stays.
    expect(screen).toMatch(/Which colour\?[\s\S]*blue/);
  });

  it('shows no sensitive choice of a question that was withdrawn', async () => {
    const { terminal, outcomes } = await open('withdrawn');
    await terminal.untilShown(/Which drugs\?[\s\S]*aspirin[\s\S]*codeine/);
    await pressAll(terminal, [...press('Space'), { type: 'x' }]);
    await terminal.untilShown(/Which colour\?[\s\S]*red/);
    expect(await terminal.screen()).not.toMatch(/aspirin|codeine/);
    await pressAll(terminal, press('Enter'));
    expect(await outcomes()).toEqual(['withdrawn', accepted('red')]);
  });

  it('shows no number of a sensitive choice in plain lines', async () => {
    const { terminal, outcomes } = await open('sensitive', { plain: true });
    await terminal.untilShown(/2\. migraine\nNumber; it is not shown:\s*$/m);
    await terminal.type('2');
    await terminal.press('Enter');
    await terminal.untilShown(/2\. codeine\nNumbers .*; they are not shown:\s*$/m);
    await terminal.type('1 2');
    await terminal.press('Enter');
    await terminal.untilShown(/Which colour\?/);
    expect(await terminal.screen()).not.toMatch(/shown: +\d/);
    await terminal.type('2');
    await terminal.press('Enter');
    expect(await outcomes()).toEqual(CHOSEN);
  });

  it('shows one question at a time, also one that the check of another one asks', async () => {
    const { terminal, outcomes } = await open('nested');
    await terminal.untilShown(/How many\?[\s\S]*left\)/);
    expect(await terminal.screen()).not.toContain('And your name?');
    await pressAll(terminal, [{ type: '3' }, ...press('Enter')]);
    await terminal.untilShown(/And your name\?[\s\S]*left\)/);
    expect(await terminal.screen()).not.toContain('Really 3 pods?');
    await pressAll(terminal, [{ type: 'Ada' }, ...press('Enter')]);
    await terminal.untilShown(/Really 3 pods\?[\s\S]*Yes/);
    await pressAll(terminal, press('Enter'));
    expect(await outcomes()).toEqual([accepted({ pods: 3 }), accepted('Ada')]);
  });

  it.each([
    { name: 'drawn over' },
    { name: 'drawn over, of a terminal that encloses no paste', isEnclosed: false },
    { name: 'plain', plain: true },
    { name: 'plain, of a terminal that encloses no paste', plain: true, isEnclosed: false },
  ])('takes a paste whole: $name', async ({ plain = false, isEnclosed = true }) => {
    const { terminal, outcomes } = await open('pasted', { plain });
    const report = 'It failed:\n\n  at 会議 (file:1)\n\tat 👩‍👩‍👧\nand that is all';
    const key = '-----BEGIN KEY-----\nAbC=\n-----END KEY-----';
    await terminal.untilShown(/Shall we begin\?[\s\S]*left\)/);
    // It is no answer to a choice.
    if (!plain && isEnclosed) await terminal.paste('y\nn\n');
    await terminal.press(...(plain ? ['1', 'Enter'] : ['Enter']));
    await terminal.untilShown(/What happened\?[\s\S]*left\)/);
    await terminal.paste(`${report}\n`, { isEnclosed });
    await terminal.untilShown(/and that is all/);
    // In plain lines an empty line ends the text.
    for (const name of plain ? ['Enter', 'Enter'] : ['Enter']) await terminal.press(name);
    await terminal.untilShown(/How often\?[\s\S]*left\)/);
    await terminal.paste(isEnclosed ? '42\n' : '42', { isEnclosed });
    await terminal.untilShown(/How often\?[\s\S]*42/);
    await terminal.press('Enter');
    await terminal.untilShown(/The key\?[\s\S]*not shown/);
    // Nothing tells when it has arrived, and Enter in the same read would be a part of it.
    if (isEnclosed) await terminal.paste(key);
    else await terminal.type(key.replaceAll('\n', ' '));
    await terminal.press('Enter');
    await terminal.untilShown(/Your name\?[\s\S]*left\)/);
    await terminal.type('Ada');
    await terminal.press('Enter');
    expect(await outcomes()).toEqual([
      accepted(true),
      accepted(report),
      accepted(42),
      isEnclosed ? key : key.replaceAll('\n', ' '),
      accepted('Ada'),
    ]);
    const screen = await terminal.screen();
    expect(screen, screen).not.toMatch(/KEY|AbC/);
  });

  it('takes several lines that are typed, and those of the editor of the person', async () => {
    const saved = join(await newFolder(), 'saved.txt');
    await writeFile(saved, 'Edited,\nin two lines.\n');
    const { terminal, outcomes } = await open('pasted', { env: { EDITOR: `cp '${saved}'` } });
    await terminal.untilShown(/Shall we begin\?[\s\S]*left\)/);
    await pressAll(terminal, press('Enter'));
    await terminal.untilShown(/Ctrl\+J: new line • Ctrl\+G: editor/);
    await pressAll(terminal, [{ type: 'One' }, ...press('C-j'), { type: 'two' }]);
    await terminal.untilShown(/One\n.*two/);
    await pressAll(terminal, press('C-g'));
    await terminal.untilShown(/Edited,\n.*in two lines\./);
    await pressAll(terminal, press('Enter'));
    await terminal.untilShown(/How often\?[\s\S]*left\)/);
    // Ctrl+D leaves.
    for (const question of [/The key\?/, /Your name\?/, /ended/]) {
      await terminal.press('C-d');
      await terminal.untilShown(question);
    }
    const left = expect.objectContaining({ status: 'cancelled' });
    expect(await outcomes()).toEqual([accepted(true), accepted('Edited,\nin two lines.'), left, left, left]);
  });

  it('ends the editor of a question that was withdrawn, and asks the next one when it has ended', async () => {
    const editor = join(await newFolder(), 'editor.mjs');
    await writeFile(
      editor,
      `process.on('SIGTERM', () => console.log('Stopping'));
      process.stdin.on('data', (data) => String(data) === 'q\\n' && process.exit());
      process.kill(Number(process.env.ASKS_PID), 'SIGUSR2');`,
    );
    const { terminal, outcomes } = await open('edited', {
      env: { EDITOR: `EDITING=1 '${process.execPath}' '${editor}'` },
    });
    await terminal.untilShown(/Ctrl\+G: editor/);
    await terminal.press('C-g');
    expect(await terminal.untilShown(/Stopping/)).not.toContain('Your name?');
    await terminal.type('q');
    await terminal.press('Enter');
    await terminal.untilShown(/Your name\?[\s\S]*left\)/);
    await pressAll(terminal, [{ type: 'Ada' }, ...press('Enter')]);
    expect(await outcomes()).toEqual(['withdrawn', accepted('Ada')]);
  });

  it.each(['', '--plain'])(
    'gives the terminal to the shell at Ctrl+Z, and takes it back: %s',
    async (flag) => {
      const env = { PARLEY_HOME: await newFolder(), PARLEY_KEYRING: 'file' };
      const terminal = await openTerminal(['bash', '--norc', '-i'], { env });
      onTestFinished(terminal.close);
      await terminal.untilShown(/[#$] *$/m);
      // The wrapper is the process that the shell has started.
      await terminal.type(`'${process.execPath}' clients/cli/bin/parley.js secret set tracker ${flag}`);
      await terminal.press('Enter');
      await terminal.untilShown(/not shown/);
      await terminal.press('C-z');
      await terminal.untilShown(/Stopped/);
      expect(await terminal.isCursorShown()).toBe(true);
      await terminal.type('echo $((40 + 2)) && fg');
      await terminal.press('Enter');
      if (flag === '') await waitUntil(async () => !(await terminal.isCursorShown()), { what: 'a prompt' });
      else await terminal.untilShown(/^42[\s\S]*not shown/m);
      await terminal.type('c4nary');
      await terminal.press('Enter');
      expect(await terminal.untilShown(/secret:tracker/)).not.toContain('c4nary');
    },
  );

  it('takes a question away at its deadline, and asks the next one', async () => {
    const { terminal, outcomes } = await open('late');
    await terminal.untilShown(/In time\?/);
    await pressAll(terminal, [{ type: 'yes' }, ...press('Enter')]);
    expect(await outcomes()).toEqual([expect.objectContaining({ status: 'expired' }), accepted('yes')]);
  });

  it('is no terminal when its input is piped: the fallback counts, or an error says why', async () => {
    const { outcomes } = await open('nobody', { input: ' </dev/null' });
    expect(await outcomes()).toEqual([
      { status: 'defaulted', value: 'no' },
      'No handler could ask for a text (terminal: cannot show it).',
    ]);
  });
}

if (hasTmux) describe('a terminal', suite);
else suiteNotRun('questions in a terminal', 'there is no tmux');
