import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { canary, findCanary } from '../../harness/canary.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { bundleEntry } from '../../harness/processes/bundle.ts';
import { dumpRedis } from '../../harness/redis/dump-redis.ts';
import { withRedis } from '../../harness/redis/redis-command.ts';
import { watchCommands } from '../../harness/redis/redis-monitor.ts';
import { hasTmux, openTerminal } from '../../harness/tmux.ts';
import { asked, meet } from './person.ts';
import type { SessionSettings } from './terminal-session.ts';
import type { World } from './world.ts';

/** Waits for a line, so that a test can look at the processes while it runs. */
const HOLD = `console.log('tool has', process.env.TOOL_TOKEN?.length ?? 'nothing'); process.stdin.once('data', () => process.exit());`;

/** Types secrets in a shell of a real terminal, then searches every place for them. */
export function terminalCanaries(the: () => World): void {
  if (!hasTmux) {
    suiteNotRun('secrets typed in a terminal', 'there is no tmux');
    return;
  }

  it('secrets that are typed in a terminal are nowhere but in their sealed place', async () => {
    const world = the();
    const person = await meet(world);
    const commands: string[] = [];
    const stopWatching = await watchCommands(world.redis.url, (args) => commands.push(args.join(' ')));
    onTestFinished(stopWatching);
    const shell = await openShell(world, person);
    const { terminal, processes, run, typeHidden } = shell;
    const [kept, handed, confided] = [canary('kept'), canary('handed'), canary('confided')];

    await run('parley secret set tracker');
    await typeHidden(/It is not shown/, kept);
    await terminal.untilShown(/^secret:tracker$/m);
    await run('TOOL_TOKEN=secret:tracker parley secret run -- node hold.mjs');
    await terminal.untilShown(new RegExp(`^tool has ${kept.length}$`, 'm'));
    processes();
    await terminal.press('Enter');

    await run('session .');
    await typeHidden(/password of the archive[\s\S]*It is not shown/, handed);
    await terminal.untilShown(new RegExp(`^unlocked with ${handed.length} characters$`, 'm'));

    const turn = await person.say('confide');
    await asked(turn);
    await run('parley answer');
    await terminal.untilShown(/What would you like to do\?/);
    await terminal.press('Enter');
    await typeHidden(/Your answer/, confided);
    await turn.done;
    await terminal.untilShown(/^accepted$/m);

    const seen = async () => ({
      screen: [await terminal.screen()],
      processes: processes(),
      files: filesIn(shell.home),
      logs: world.pods.flatMap(({ lines, stderr }) => [...lines, ...stderr]),
      spans: world.telemetry,
      'requests to the model': world.model.requests.map(({ body }) => JSON.stringify(body)),
      'commands to Redis': commands,
      Redis: await withRedis(world.redis.url, (redis) => dumpRedis(redis)),
    });
    const clean = await seen();
    // An empty place would prove nothing.
    expectIn(clean.screen, 'secret:tracker');
    expectIn(clean.processes, 'hold.mjs');
    expectIn(clean.files, 'transcript.json');
    expectIn(clean.files, 'secrets.key');
    expectIn(clean.logs, 'elicitation');
    expectIn(clean.spans, 'elicitation.requested');
    expectIn(clean['requests to the model'], 'I typed ');
    expectIn(clean['commands to Redis'], 'I typed ');
    expect(placesOf(kept, clean)).toEqual([]);
    expect(placesOf(handed, clean)).toEqual([]);
    // A sensitive answer is what its asker waits for: it lies in its row until the retention ends.
    expect(placesOf(confided, clean)).toEqual(['commands to Redis', 'Redis']);
    const rows = clean.Redis.filter((entry) => findCanary(confided, [entry]).length > 0);
    expect(rows).toEqual([expect.stringMatching(/^parley:\{[^}]*\}:elicitation:/)]);

    // What is leaked on purpose is found.
    await run(`node hold.mjs ${kept}`);
    await terminal.untilShown(/^tool has nothing$/m);
    processes();
    await terminal.press('Enter');
    await run('exit');
    await terminal.untilEnded();
    await (await person.say(`echo ${kept}`)).done;
    const leaked = ['screen', 'processes', 'files', 'requests to the model', 'commands to Redis', 'Redis'];
    expect(placesOf(kept, await seen())).toEqual(leaked);
    expect(filesIn(shell.home).filter((text) => text.includes(kept))).toEqual([
      expect.stringContaining('.bash_history'),
    ]);
  });
}

/** A shell with a history, in a home of its own, with the command `parley` and the program of a session. */
async function openShell(world: World, person: Awaited<ReturnType<typeof meet>>) {
  const home = mkdtempSync(join(tmpdir(), 'parley-terminal-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(home, 'tmp'));
  const settings: SessionSettings = {
    baseUrl: world.url,
    userId: person.userId,
    userToken: person.token,
    serviceKey: world.secrets.service,
  };
  writeFileSync(join(home, 'session.json'), JSON.stringify(settings));
  writeFileSync(join(home, 'hold.mjs'), HOLD);
  const program = async (entry: string) => `'${process.execPath}' '${await bundleEntry(entry)}' "$@"`;
  writeFileSync(
    join(home, '.bashrc'),
    `PS1='$ '
parley() { ${await program('clients/cli/src/main.ts')}; }
session() { ${await program('test/e2e/connect/terminal-session.ts')}; }
node() { '${process.execPath}' "$@"; }
cd ~
`,
  );
  const env = {
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    HISTFILE: join(home, '.bash_history'),
    PARLEY_URL: world.url,
    PARLEY_TOKEN: person.token,
    PARLEY_KEYRING: 'file',
  };
  const terminal = await openTerminal(['bash', '--rcfile', join(home, '.bashrc'), '-i'], { env });
  onTestFinished(terminal.close);
  await terminal.untilShown(/^\$ ?$/m);
  const arguments_ = new Set<string>();
  const processes = () => {
    for (const line of argumentsOfAll()) arguments_.add(line);
    return [...arguments_];
  };
  return {
    terminal,
    home,
    /** The arguments of all processes of this machine, now and at each call before. */
    processes,
    async run(line: string): Promise<void> {
      await terminal.type(line);
      await terminal.press('Enter');
    },
    async typeHidden(prompt: RegExp, secret: string): Promise<void> {
      await terminal.untilShown(prompt);
      await terminal.type(secret);
      processes();
      await terminal.press('Enter');
    },
  };
}

function argumentsOfAll(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        // It has ended in the meantime.
        return '';
      }
    });
}

/** Each file below a folder: its name and its bytes. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => `${path}\n${readFileSync(path, 'latin1')}`);
}

function expectIn(texts: readonly string[], part: string): void {
  expect(
    texts.some((text) => text.includes(part)),
    part,
  ).toBe(true);
}

/** The places where a secret is, in whatever form. */
function placesOf(secret: string, seen: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.entries(seen)
    .filter(([, texts]) => findCanary(secret, texts).length > 0)
    .map(([place]) => place);
}
