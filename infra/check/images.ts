import { join } from 'node:path';
import { dockerfile } from './dockerfile.ts';
import { withRedis } from './redis.ts';
import type { Login } from './redis-user.ts';
import { type Buildah, standInBase } from './stand-in.ts';
import { findProgram, freePort, lastLines, run, start, until, withDirectory } from './tools.ts';
import { type Check, judge, notRun, type Verdict } from './verdict.ts';

const minutes = 60_000;

/**
 * Builds both images from the Dockerfile as it is and starts them against a real Redis. The base image is a stand-in
 * made here of Debian and this machine's Node, so this proves the steps and the wiring, not the official base.
 */
export function imageChecks(wanted: boolean): readonly Check[] {
  const name = 'images build and start';
  return [{ name, run: (root) => (wanted ? buildAndStart(root) : notRun('asked for by --images')) }];
}

async function buildAndStart(root: string): Promise<Verdict> {
  for (const program of ['buildah', 'debootstrap', 'redis-server']) {
    if (findProgram(program) === undefined) return notRun(`${program} is not installed`);
  }
  if (process.getuid?.() !== 0) return notRun('debootstrap needs root');
  return withDirectory(async (directory) => {
    const store = [
      '--root',
      join(directory, 'store'),
      '--runroot',
      join(directory, 'run'),
      '--storage-driver',
      'vfs',
    ];
    const buildah: Buildah = (args, timeout = 5 * minutes) =>
      run('buildah', [...store, ...args], { timeout });
    const base = await standInBase(buildah, directory);
    if (base !== undefined) return notRun(`no stand-in base: ${base}`);
    for (const target of ['api', 'worker']) {
      const built = await build(buildah, root, target);
      if (built !== undefined) return judge([`target ${target}: ${built}`]);
    }
    const inside = [
      ...(await contentProblems(buildah, 'api')),
      ...(await contentProblems(buildah, 'worker')),
    ];
    if (inside.length > 0) return judge(inside);
    return withRedis(root, async (redis) => [
      ...(await startProblems(store, 'api', 'PORT', redis)),
      ...(await startProblems(store, 'worker', 'PARLEY_METRICS_PORT', redis)),
    ]);
  });
}

async function build(buildah: Buildah, root: string, target: string): Promise<string | undefined> {
  const major = process.versions.node.split('.')[0] ?? '';
  const how = ['--isolation', 'chroot', '--network', 'host', '--format', 'docker', '--pull-never'];
  const what = [
    '--build-arg',
    `NODE_VERSION=${major}`,
    '--target',
    target,
    '-t',
    `localhost/parley-${target}`,
  ];
  const { code, output } = await buildah(
    ['bud', ...how, ...what, '-f', join(root, dockerfile), root],
    15 * minutes,
  );
  return code === 0 ? undefined : lastLines(output, 8);
}

/** Things that must hold inside an image: nobody is root, nothing can be changed, nothing is there that only builds. */
async function contentProblems(buildah: Buildah, target: string): Promise<readonly string[]> {
  const made = await buildah([
    'from',
    '--pull-never',
    '--name',
    `look-${target}`,
    `localhost/parley-${target}`,
  ]);
  if (made.code !== 0) return [lastLines(made.output)];
  const truths = [
    ['runs as root', 'test "$(id -u)" = 1000'],
    ['can change itself', '! touch /app/x 2>/dev/null'],
    ['carries build tools', 'test ! -e node_modules/typescript && test ! -e node_modules/tsx'],
    ['carries sources', 'test -z "$(find shared services -name "*.ts" -path "*/src/*")"'],
    ['lacks the commit script', 'test -n "$(find shared/dist -name "*.lua")"'],
    ['lacks its entry point', `test -e services/${target}/dist/main.js`],
  ] as const;
  const problems: string[] = [];
  for (const [otherwise, script] of truths) {
    const { code } = await buildah([
      'run',
      '--isolation',
      'chroot',
      `look-${target}`,
      '--',
      'sh',
      '-c',
      script,
    ]);
    if (code !== 0) problems.push(`image ${target} ${otherwise}`);
  }
  return problems;
}

/** Starts the image's own command, waits until it is ready, asks it to end, and expects a clean end. */
async function startProblems(
  store: readonly string[],
  target: string,
  portName: string,
  redis: Login,
): Promise<readonly string[]> {
  const port = await freePort();
  const settings = {
    NODE_ENV: 'development',
    PORT: `${port}`,
    PARLEY_METRICS_PORT: portName === 'PORT' ? '0' : `${port}`,
    REDIS_URL: `redis://127.0.0.1:${redis.port}`,
    PARLEY_REDIS_USERNAME: redis.username,
    PARLEY_REDIS_PASSWORD: redis.password,
    PARLEY_API_KEYS: 'default:a-service-key-for-this-check',
  };
  const env = Object.entries(settings).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
  // `timeout` stands where the orchestrator would: it sends SIGTERM, and hands on how the process ended.
  const command = [
    'timeout',
    '--preserve-status',
    '--kill-after=20',
    '15',
    'node',
    `services/${target}/dist/main.js`,
  ];
  const args = [
    ...store,
    'run',
    '--isolation',
    'chroot',
    '--network',
    'host',
    ...env,
    `look-${target}`,
    '--',
    ...command,
  ];
  const process = start('buildah', args);
  const ready = await until(async () => {
    const reply = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    return reply?.ok === true || process.child.exitCode !== null;
  }, 14_000);
  const { code, output } = await process.finished;
  if (!ready) return [`image ${target} did not get ready: ${lastLines(output)}`];
  return code === 0 ? [] : [`image ${target} ended with ${code} after SIGTERM: ${lastLines(output)}`];
}
