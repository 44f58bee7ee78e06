import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canaryKey } from '@parley/shared/redis/client/keys';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../harness/free-port.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { paced } from '../../harness/pace.ts';
import { answerByLink } from '../../harness/pages/answer-link.ts';
import { withRedis } from '../../harness/redis/redis-command.ts';
import { startRedis } from '../../harness/redis/redis-server.ts';
import { hasTmux, openTerminal, type Terminal } from '../../harness/tmux.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { createCast } from './cast.ts';

/** Several programs start one after the other, on a busy machine. */
const TIMEOUT_MS = paced(180_000);

/** The two commands of a newcomer, in an empty folder and an empty home, with the packages of `installed` (a `node_modules`). */
export function twoCommands(installed: () => string): void {
  if (!hasTmux) {
    suiteNotRun('the two commands of the README', 'there is no tmux');
    return;
  }
  it(
    'the first question is answered in a terminal, and the next on its page',
    async () => {
      const person = await openNewcomer(installed());
      const cast = createCast();
      const dev = await person.npx(`parley dev --memory --port ${person.port}`);
      await dev.untilShown(/Parley runs at [\s\S]*keeps everything in memory/);
      await cast.add(dev);
      const shown = await dev.untilShown(
        /What shall your agent be called\?\n\s+on a page: .*\n\s+in a terminal: .*\n/,
      );
      // Pasted as it stands, by someone who has installed nothing globally.
      const answering = await person.shell(/in a terminal: +(.*)/.exec(shown)?.[1] ?? '');
      await answerFirst(answering, () => cast.add(dev, answering));
      await dev.untilShown(/The asker has the answer: Robbie/);
      await cast.add(dev, answering);

      const asking = await person.npx(`parley ask 'Which colour?' --choice red --choice blue`);
      const asked = await dev.untilShown(/Which colour\?\n\s+on a page: .*\n\s+in a terminal: .*\n/);
      await cast.add(dev, asking);
      await answerOnPage(asked, { 'field-0': '1' });
      expect(await asking.untilEnded()).toMatch(/^blue$[\s\S]*^ended 0$/m);
      await cast.add(dev, asking);
      await cast.save();
      await dev.press('C-c');
      await dev.untilEnded();
    },
    TIMEOUT_MS,
  );

  it(
    'parley dev keeps questions in the Redis that it is given, and runs a worker',
    async () => {
      const redis = await startRedis({ args: ['--appendonly', 'no'] });
      onTestFinished(() => redis.stop());
      const person = await openNewcomer(installed(), { REDIS_URL: redis.url });
      const dev = await person.npx(`parley dev --port ${person.port}`);
      await dev.untilShown(new RegExp(`keeps everything in Redis at ${new URL(redis.url).host}`));
      await dev.untilShown(/Question: What shall your agent be called\?/);
      const doctor = await person.npx('parley doctor');
      expect(await doctor.untilEnded()).toMatch(/ok\s+redis: [\s\S]*^ended 0$/m);
      await answerFirst(await person.npx('parley answer'));
      await dev.untilShown(/accepted: What shall your agent be called\?/);
      await withRedis(redis.url, async (client) => {
        expect(await client.keys('parley:*:elicitation:*')).toHaveLength(1);
        // The worker sets it.
        await waitUntil(() => client.get(canaryKey()), { what: 'the timer canary' });
      });
      await dev.press('C-c');
      await dev.untilEnded();
    },
    TIMEOUT_MS,
  );
}

async function answerFirst(terminal: Terminal, onStep?: () => Promise<void>): Promise<void> {
  await terminal.untilShown(/What would you like to do\?/);
  await onStep?.();
  await terminal.press('Enter');
  await terminal.untilShown(/Name \(/);
  await terminal.type('Robbie');
  await terminal.untilShown(/Robbie/);
  await onStep?.();
  await terminal.press('Enter');
  expect(await terminal.untilEnded()).toMatch(/^accepted$[\s\S]*^ended 0$/m);
}

/** Opens the last page that a screen names, as a browser does, and sends its form. */
async function answerOnPage(screen: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const shown = screen.replaceAll('\n', '').match(/http:\/\/localhost:\d+\/auth\/[^\s]+#[\w.-]+?(?=\s)/g);
  expect((await answerByLink(shown?.at(-1) ?? '', fields)).status).toBe(200);
}

/** An empty home and an empty folder, in which the packages are then installed. */
async function openNewcomer(installed: string, more: Readonly<Record<string, string>> = {}) {
  const home = await mkdtemp(join(tmpdir(), 'parley-newcomer-'));
  onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  await mkdir(join(home, 'empty'));
  await symlink(installed, join(home, 'empty/node_modules'));
  const port = await freePort();
  const env = {
    HOME: home,
    REDIS_URL: '',
    PARLEY_HOME: '',
    XDG_CONFIG_HOME: '',
    npm_config_offline: 'true',
    npm_config_cache: join(home, '.npm'),
    npm_config_loglevel: 'error',
    ...more,
  };
  async function shell(line: string): Promise<Terminal> {
    const command = ['sh', '-c', `cd '${home}/empty' && echo "$ ${line}" && exec ${line}`];
    const terminal = await openTerminal(command, { env, columns: 200 });
    onTestFinished(terminal.close);
    return terminal;
  }
  return {
    port,
    npx: (line: string) => shell(`npx ${line}`),
    shell,
  };
}
