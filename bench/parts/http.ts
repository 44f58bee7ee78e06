import { Agent, request } from 'node:http';
import type { Engine } from '@parley/shared/elicitations/engine';
import { startPod } from '../../test/harness/processes/processes.ts';
import { startProcess } from '../../test/harness/processes/start-process.ts';
import { userToken } from '../../test/harness/tokens.ts';
import type { Bench } from '../bench.ts';
import { inLanes } from '../lanes.ts';
import { type Measurement, median, microseconds, quantile } from '../measurement.ts';
import { openBenchEngine, QUESTION, TENANT, userOf } from '../pod/engine.ts';

const SECRET = 'bench-secret-bench-secret-bench-secret';
const ROUNDS = 5;
const LOW = 200;
const FULL = { count: 1_500, underWay: 32 };
const USERS = 200;

type Post = (url: string, question: Question) => Promise<void>;

interface Question {
  readonly userId: string;
  readonly id: string;
}

/** The answer call of a real pod beside a bare server that does the same token check, validation and script. */
export async function http({ redisUrl, built, scaled, progress }: Bench): Promise<Measurement[]> {
  const servers = await startServers(redisUrl, built);
  const { engine, backend } = await openBenchEngine(redisUrl);
  const post = await createPost();
  const p50 = { parley: [] as number[], reference: [] as number[] };
  const perSecond = { parley: [] as number[], reference: [] as number[] };
  const rounds = scaled(ROUNDS, 1);
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of ['parley', 'reference'] as const) {
      const low = await oneByOne(post, servers[name], await ask(engine, scaled(LOW, 10)));
      const full = await atOnce(post, servers[name], await ask(engine, scaled(FULL.count, 20)));
      progress(`http ${round}/${rounds} ${name}: p50 ${low} us, ${Math.round(full)}/s`);
      if (round === 0) continue;
      p50[name].push(low);
      perSecond[name].push(full);
    }
  }
  await Promise.all([servers.stop(), backend.close()]);
  return [
    {
      what: 'Parley over HTTP: answer',
      measured: `p50 ${median(p50.parley)} us, ${Math.round(median(perSecond.parley))}/s`,
    },
    {
      what: 'bare node:http reference: answer',
      measured: `p50 ${median(p50.reference)} us, ${Math.round(median(perSecond.reference))}/s`,
    },
    {
      what: 'HTTP p50 over the reference',
      measured: 'ratio',
      ratio: median(p50.parley) / median(p50.reference),
      aim: { atMost: 1.3 },
    },
    {
      what: 'HTTP throughput over the reference',
      measured: 'ratio',
      ratio: median(perSecond.parley) / median(perSecond.reference),
    },
  ];
}

async function startServers(redisUrl: string, build: boolean) {
  const env = {
    REDIS_URL: redisUrl,
    PARLEY_JWT_SECRET: SECRET,
    PARLEY_LOG_LEVEL: 'info',
    PARLEY_LIMIT_USER_WRITES: '1000000',
  };
  const pod = await startPod(env, { runs: build ? 'build' : 'bundle' });
  const reference = await startProcess({
    name: 'reference',
    entry: 'bench/processes/reference.ts',
    env,
    runs: build ? 'build' : 'bundle',
    readyWhen: (line) => 'listening' in line,
  });
  return {
    parley: pod.url,
    reference: `http://127.0.0.1:${String(reference.ready.port)}`,
    stop: () => Promise.all([pod.stop(), reference.stop()]),
  };
}

async function createPost(): Promise<Post> {
  const agent = new Agent({ keepAlive: true, maxSockets: FULL.underWay });
  const tokens = new Map<string, string>();
  for (let index = 0; index < USERS; index += 1) {
    const userId = userOf(index);
    tokens.set(userId, await userToken({ secret: SECRET, userId, tenant: TENANT }));
  }
  const body = JSON.stringify({ action: 'accept', content: { environment: 'staging', at: 1 } });
  return (url, { userId, id }) =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${tokens.get(userId) ?? ''}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      };
      const sent = request(
        `${url}/v1/elicitations/${id}/response`,
        { method: 'POST', agent, headers },
        (res) => {
          res.resume();
          res.once('end', () =>
            res.statusCode === 200 ? resolve() : reject(new Error(`status ${res.statusCode}`)),
          );
        },
      );
      sent.once('error', reject);
      sent.end(body);
    });
}

async function ask(engine: Engine, count: number): Promise<Question[]> {
  const questions: Question[] = [];
  await inLanes(count, 100, async (index) => {
    const userId = userOf(index % USERS);
    const { row } = await engine.ask({ tenant: TENANT, input: { ...QUESTION, userId } as never });
    questions.push({ userId, id: row.id });
  });
  return questions;
}

async function oneByOne(post: Post, url: string, questions: readonly Question[]): Promise<number> {
  const took: number[] = [];
  for (const question of questions) {
    const startedAt = microseconds();
    await post(url, question);
    took.push(microseconds() - startedAt);
  }
  return quantile(took, 0.5);
}

async function atOnce(post: Post, url: string, questions: readonly Question[]): Promise<number> {
  const startedAt = microseconds();
  await inLanes(questions.length, FULL.underWay, async (index) => {
    const question = questions[index];
    if (question !== undefined) await post(url, question);
  });
  return (questions.length * 1e6) / (microseconds() - startedAt);
}
