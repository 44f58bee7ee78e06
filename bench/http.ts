import { Agent, request } from 'node:http';
import { startPod } from '../test/harness/processes.ts';
import { startProcess } from '../test/harness/start-process.ts';
import { userToken } from '../test/harness/tokens.ts';
import { openBenchEngine, QUESTION, TENANT, userOf } from './engine.ts';
import { microseconds } from './peers.ts';
import { type Finding, median, quantile } from './stats.ts';

const SECRET = 'bench-secret-bench-secret-bench-secret';
const ROUNDS = 5;
const LOW = 200;
const FULL = { count: 1_500, underWay: 32 };
const USERS = 200;

type Post = (url: string, userId: string, id: string) => Promise<void>;

interface Question {
  readonly userId: string;
  readonly id: string;
}

/** The answer call of a real pod beside a bare server that does the same token check, validation and script. */
export async function http(redisUrl: string, progress: (text: string) => void): Promise<Finding[]> {
  const env = {
    REDIS_URL: redisUrl,
    PARLEY_JWT_SECRET: SECRET,
    PARLEY_LOG_LEVEL: 'info',
    PARLEY_LIMIT_USER_WRITES: '1000000',
  };
  const pod = await startPod(env, { build: true });
  const bare = await startProcess({
    name: 'reference',
    entry: 'bench/roles/reference.ts',
    env,
    build: true,
    readyWhen: (line) => 'listening' in line,
  });
  const { engine } = await openBenchEngine(redisUrl);
  const post = await poster();
  const targets = { parley: pod.url, reference: `http://127.0.0.1:${String(bare.ready.port)}` };
  const p50 = { parley: [] as number[], reference: [] as number[] };
  const perSecond = { parley: [] as number[], reference: [] as number[] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const name of ['parley', 'reference'] as const) {
      const low = await oneByOne(post, targets[name], await questions(engine, LOW));
      const full = await atOnce(post, targets[name], await questions(engine, FULL.count));
      progress(`http ${round}/${ROUNDS} ${name}: p50 ${low} us, ${Math.round(full)}/s`);
      if (round === 0) continue;
      p50[name].push(low);
      perSecond[name].push(full);
    }
  }
  await Promise.all([pod.stop(), bare.stop()]);
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

async function poster(): Promise<Post> {
  const agent = new Agent({ keepAlive: true, maxSockets: FULL.underWay });
  const tokens = new Map<string, string>();
  for (let index = 0; index < USERS; index += 1) {
    const userId = userOf(index);
    tokens.set(userId, await userToken({ secret: SECRET, userId, tenant: TENANT }));
  }
  const body = JSON.stringify({ action: 'accept', content: { environment: 'staging', at: 1 } });
  return (url, userId, id) =>
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

async function questions(
  engine: Awaited<ReturnType<typeof openBenchEngine>>['engine'],
  count: number,
): Promise<Question[]> {
  const asked: Question[] = [];
  while (asked.length < count) {
    const batch = Array.from({ length: Math.min(100, count - asked.length) }, async (_, index) => {
      const userId = userOf((asked.length + index) % USERS);
      const { row } = await engine.ask({ tenant: TENANT, input: { ...QUESTION, userId } as never });
      return { userId, id: row.id };
    });
    asked.push(...(await Promise.all(batch)));
  }
  return asked;
}

async function oneByOne(post: Post, url: string, asked: readonly Question[]): Promise<number> {
  const took: number[] = [];
  for (const { userId, id } of asked) {
    const startedAt = microseconds();
    await post(url, userId, id);
    took.push(microseconds() - startedAt);
  }
  return quantile(took, 0.5);
}

async function atOnce(post: Post, url: string, asked: readonly Question[]): Promise<number> {
  const startedAt = microseconds();
  let next = 0;
  const lane = async () => {
    for (let question = asked[next]; question !== undefined; question = asked[next]) {
      next += 1;
      await post(url, question.userId, question.id);
    }
  };
  await Promise.all(Array.from({ length: FULL.underWay }, lane));
  return (asked.length * 1e6) / (microseconds() - startedAt);
}
