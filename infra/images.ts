/*
 * Builds the images from the Dockerfile, and checks their contents and their start. infra/check checks the Dockerfile
 * itself, without a build.
 */
import { join, resolve } from 'node:path';
import { freePort } from '../test/harness/free-port.ts';
import { paced } from '../test/harness/pace.ts';
import { startRedis } from '../test/harness/redis/redis-server.ts';
import { waitUntil } from '../test/harness/wait-until.ts';
import { findProgram, lastLines, runProgram, withDirectory } from './check/programs.ts';
import { type Buildah, standInBase } from './images/stand-in-base.ts';

const root = resolve(import.meta.dirname, '..');
const MINUTE_MS = 60_000;
/** How long an image runs, in ms. */
const RUNS_MS = 15_000;
const CHROOT = ['--isolation', 'chroot', '--network', 'host'];
const SERVICES = [
  { target: 'api', portVariable: 'PORT' },
  { target: 'worker', portVariable: 'PARLEY_METRICS_PORT' },
] as const;
type Service = (typeof SERVICES)[number];

/** Why images cannot be built on this machine; undefined if they can. */
export function whyNoImages(): string | undefined {
  const missing = ['buildah', 'crun', 'debootstrap', 'redis-server'].filter(
    (program) => findProgram(program) === undefined,
  );
  if (missing.length > 0) return `not installed: ${missing.join(', ')}`;
  return process.getuid?.() === 0 ? undefined : 'debootstrap needs root';
}

/**
 * Builds both images from the Dockerfile with buildah, starts them against a real Redis, and returns their faults. The base
 * image is a stand-in made of Debian and this machine's Node, so this proves the build steps and the wiring, but not the
 * official base. Takes some minutes.
 */
export function faultsOfImages(): Promise<readonly string[]> {
  return withDirectory(async (directory) => {
    const store = [
      '--root',
      join(directory, 'store'),
      '--runroot',
      join(directory, 'run'),
      '--storage-driver',
      'vfs',
    ];
    const buildah: Buildah = (args, timeoutMs = 5 * MINUTE_MS) =>
      runProgram('buildah', [...store, ...args], { timeoutMs });
    const fault = await standInBase(buildah, directory);
    if (fault !== undefined) return [`no stand-in base: ${fault}`];
    const problems: string[] = [];
    for (const service of SERVICES) {
      const built = await build(buildah, service);
      problems.push(...(built.length > 0 ? built : await contentProblems(buildah, service)));
    }
    if (problems.length > 0) return problems;
    const redis = await startRedis();
    try {
      for (const service of SERVICES) problems.push(...(await startProblems(buildah, service, redis.url)));
    } finally {
      await redis.stop();
    }
    return problems;
  });
}

async function build(buildah: Buildah, { target }: Service): Promise<readonly string[]> {
  const [major = ''] = process.versions.node.split('.');
  const tag = `localhost/parley-${target}`;
  const options = ['--format', 'docker', '--pull-never', '--build-arg', `NODE_VERSION=${major}`];
  const { code, output } = await buildah(
    ['bud', ...CHROOT, ...options, '--target', target, '-t', tag, '-f', join(root, 'infra/Dockerfile'), root],
    15 * MINUTE_MS,
  );
  if (code !== 0) return [`target ${target}: ${lastLines(output)}`];
  const made = await buildah(['from', '--pull-never', '--name', `probe-${target}`, tag]);
  return made.code === 0 ? [] : [lastLines(made.output)];
}

/** In an image no process runs as root, no file is writable, and no build tool is installed. */
async function contentProblems(buildah: Buildah, { target }: Service): Promise<readonly string[]> {
  const tests = [
    ['runs as root', 'test "$(id -u)" = 1000'],
    ['can change itself', '! touch /app/x 2>/dev/null'],
    ['carries packages or sources', 'test -z "$(find . -name node_modules -o -name "*.ts")"'],
    ['lacks the licences of others', 'test -s THIRD_PARTY'],
    ['lacks its entry point', `test -e ${target}/main.cjs`],
    ['lacks compiled code', `test -n "$(find ${target} -name "*.code")"`],
  ] as const;
  const problems: string[] = [];
  for (const [problem, script] of tests) {
    const { code } = await buildah([
      'run',
      '--isolation',
      'chroot',
      `probe-${target}`,
      '--',
      'sh',
      '-c',
      script,
    ]);
    if (code !== 0) problems.push(`image ${target} ${problem}`);
  }
  return problems;
}

/** Starts the image's own command, waits until it is ready, sends SIGTERM, and expects exit code 0. */
async function startProblems(
  buildah: Buildah,
  { target, portVariable }: Service,
  redisUrl: string,
): Promise<readonly string[]> {
  const port = `${await freePort()}`;
  const settings = {
    NODE_ENV: 'development',
    PORT: port,
    PARLEY_METRICS_PORT: '0',
    REDIS_URL: redisUrl,
    PARLEY_API_KEYS: 'default:a-service-key-for-this-check',
    [portVariable]: port,
  };
  const env = Object.entries(settings).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
  const seconds = String(Math.ceil(paced(RUNS_MS) / 1_000));
  const command = ['timeout', '--preserve-status', '--kill-after=20', seconds, 'node', `${target}/main.cjs`];
  const ended = buildah(['run', ...CHROOT, ...env, `probe-${target}`, '--', ...command]);
  const isReady = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
  const ready = await waitUntil(isReady, { what: `${target} to be ready`, timeoutMs: 14_000 }).then(
    () => true,
    () => false,
  );
  const { code, output } = await ended;
  if (!ready) return [`image ${target} did not get ready: ${lastLines(output)}`];
  return code === 0 ? [] : [`image ${target} ended with ${code} after SIGTERM: ${lastLines(output)}`];
}
