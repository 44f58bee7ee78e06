import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findProgram } from '../../../infra/check/programs.ts';
import { canary, findCanary } from '../../harness/canary.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { bundleEntry } from '../../harness/processes/bundle.ts';
import { openTerminal } from '../../harness/tmux.ts';

/** Says how long the secret is, and whether it stands in the arguments. */
const TOOL =
  'console.log("tool has", process.env.TOOL_TOKEN.length, process.argv.join().includes(process.env.TOOL_TOKEN))';

/** `parley secret` with the Secret Service of a desktop, on a message bus of its own, and without one. */
export function keyringSuite(): void {
  const missing = ['dbus-run-session', 'gnome-keyring-daemon'].filter((name) => !findProgram(name));
  if (missing.length > 0) suiteNotRun('the keyring of the system', `there is no ${missing.join(', no ')}`);
  else keyringCases();

  describe('parley secret', () => {
    it('without a keyring keeps the secret sealed in a file, and hands it over by reference', async () => {
      const { home, start } = await openHome();
      const terminal = await start(
        `parley secret set tracker --plain; parley secret run -- node -e '${TOOL}'`,
      );
      const secret = canary('file');
      await terminal.untilShown(/it is not shown/);
      await terminal.type(secret);
      await terminal.press('Enter');
      const screen = await terminal.untilEnded();
      expect(screen).toContain(`tool has ${secret.length} false`);
      const files = await filesIn(home);
      expect(screen).toContain('secret:tracker');
      expect(Object.keys(files)).toEqual(
        expect.arrayContaining(['.config/parley/secrets.json', '.config/parley/secrets.key']),
      );
      expect(findCanary(secret, [screen, ...Object.values(files)])).toEqual([]);
    });
  });
}

function keyringCases(): void {
  describe('parley secret', () => {
    it('keeps the secret in the keyring of the system, hands it over by reference, and removes it', async () => {
      const { home, start } = await openHome();
      // A keyring whose password is known, as after a person has logged in.
      const unlock = `printf 'open\\n' | gnome-keyring-daemon --unlock --components=secrets >/dev/null`;
      const commands = [
        unlock,
        'parley secret set tracker --plain',
        `parley secret run -- node -e '${TOOL}'`,
        'parley secret rm tracker',
        'parley secret get tracker --reveal',
      ];
      const terminal = await start(commands.join('; '), ['dbus-run-session', '--']);
      const secret = canary('keyring');
      await terminal.untilShown(/it is not shown/);
      await terminal.type(secret);
      await terminal.press('Enter');
      const screen = await terminal.untilEnded();
      expect(screen).toContain('secret:tracker');
      expect(screen).toContain(`tool has ${secret.length} false`);
      expect(screen).toContain('There is no secret tracker.');
      const files = await filesIn(home);
      expect(Object.keys(files)).toContain('.local/share/keyrings/login.keyring');
      expect(Object.keys(files).filter((name) => name.endsWith('secrets.json'))).toEqual([]);
      expect(findCanary(secret, [screen, ...Object.values(files)])).toEqual([]);
    });
  });
}

/** An empty home, and a way to run a script in it, in a terminal without a message bus of its own. */
async function openHome() {
  const home = await mkdtemp(join(tmpdir(), 'parley-keyring-'));
  onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  const runtime = join(home, 'run');
  await mkdir(runtime, { mode: 0o700 });
  const program = `'${process.execPath}' '${await bundleEntry('clients/cli/src/main.ts')}' "$@"`;
  const env = {
    HOME: home,
    XDG_RUNTIME_DIR: runtime,
    XDG_CONFIG_HOME: '',
    XDG_DATA_HOME: '',
    DBUS_SESSION_BUS_ADDRESS: '',
    PARLEY_HOME: '',
    PARLEY_KEYRING: '',
    TOOL_TOKEN: 'secret:tracker',
  };
  return {
    home,
    async start(script: string, wrapper: readonly string[] = []) {
      const file = join(home, 'run.sh');
      await writeFile(file, `parley() { ${program}; }\nnode() { '${process.execPath}' "$@"; }\n${script}\n`);
      const terminal = await openTerminal([...wrapper, 'bash', file], { env });
      onTestFinished(terminal.close);
      return terminal;
    },
  };
}

async function filesIn(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = paths.map(
    async (path) => [path.slice(folder.length + 1), await readFile(path, 'latin1')] as const,
  );
  return Object.fromEntries(await Promise.all(texts));
}
