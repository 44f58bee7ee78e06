import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createChatClient,
  person,
  questionsIn,
  SECRET,
  textOf,
  untilAsked,
} from '../../harness/chat/client.ts';
import { splitFetch } from '../../harness/http/pick-fetch.ts';
import { SIZE } from '../../harness/load/size.ts';
import { v1Client } from '../../harness/mcp-clients/clients.ts';
import { createAskingFixture } from '../../harness/mcp-servers/asking.ts';
import { type RunningMcpServer, startMcpServer } from '../../harness/mcp-servers/mcp-servers.ts';
import { type RequestingServer, startRequestingServer } from '../../harness/mcp-servers/requesting.ts';
import { openSite, type Site, type SitePod } from '../../harness/site/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { type CaseRow, reportCases } from './report.ts';

const PEOPLE = SIZE.full ? 8 : 4;
/** Each round waits with all people and ends the pod of their calls. */
const ROUNDS = Array.from({ length: SIZE.full ? 25 : 1 }, (_, round) => round);

const rows: CaseRow[] = [];
let site: Site;
let servers: RunningMcpServer[];
let requesting: RequestingServer[];
let pods: SitePod[];
let env: Record<string, string>;
const modern = createAskingFixture();
const legacy = createAskingFixture();

beforeAll(async () => {
  site = await openSite();
  // "modern book" calls that tool of that server; then the model repeats what the tool said.
  const model = await site.model({
    script: [
      ({ userText, results }) =>
        results.length > 0
          ? { text: results.map(({ text }) => text).join(' ') }
          : { calls: [{ name: userText.replace(' ', '__'), arguments: {} }] },
    ],
  });
  // Both also offer the other revision, and nothing is configured: one cannot ask in 2025-11-25, the other can.
  servers = await Promise.all([
    startMcpServer({ revision: 'stateless', fixture: modern }),
    startMcpServer({ revision: 'both', fixture: legacy }),
  ]);
  requesting = await Promise.all([startRequestingServer('new'), startRequestingServer('old')]);
  const config = site.agents(
    model.url,
    `agents:
  helper: { title: Helper, model: scripted, instructions: Help., tools: [{ server: modern }, { server: legacy }] }
mcpServers:
  modern: { title: Modern Desk, transport: http, url: "${servers[0]?.url}", credentialScope: none }
  legacy: { title: Legacy Desk, transport: http, url: "${servers[1]?.url}", credentialScope: none }
  writer: { title: Writer, transport: http, url: "${requesting[0]?.url}", credentialScope: none }
  old_writer: { title: Old Writer, transport: http, url: "${requesting[1]?.url}", credentialScope: none }
mcpOffer: { tools: [{ server: writer }, { server: old_writer }] }
`,
  );
  env = {
    PARLEY_CONFIG: config,
    PARLEY_JWT_SECRET: SECRET,
    PARLEY_VAULT_KEYS: `one:${randomBytes(32).toString('base64')}`,
    // A pod on a busy machine must not be mistaken for a dead one.
    PARLEY_LEASE_MS: '10000',
    PARLEY_TAKE_OVER_MS: '1000',
    PARLEY_DRAIN_MS: '8000',
  };
  await site.worker(env);
  pods = await Promise.all([site.pod(env), site.pod(env)]);
});
afterAll(async () => {
  await site?.stop();
  await Promise.all([...(servers ?? []), ...(requesting ?? [])].map((server) => server.kill()));
  reportCases('servers that ask', 'test/e2e/mcp/servers-that-ask.test.ts', rows);
});

const { say, resume, post } = createChatClient((pod) => pods[pod]?.url ?? '');

/** People whose calls wait for their answers on the first pod. */
async function waiting(text: string) {
  return Promise.all(
    Array.from({ length: PEOPLE }, async (_, at) => {
      const { authorization } = await person();
      const chatId = `${text.replace(' ', '-')}-${at}-${legacy.effects.length + modern.effects.length}`;
      const chat = await say({ authorization, text, chatId });
      const elicitationId = await untilAsked(chat);
      const elsewhere = await resume(1, authorization, chatId);
      return { authorization, chatId, elicitationId, elsewhere };
    }),
  );
}
type Waiting = Awaited<ReturnType<typeof waiting>>[number];

/** Ends the first pod, and starts another in its place. */
async function replace(how: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  pods[0]?.kill(how);
  await pods[0]?.exited;
  pods[0] = await site.pod(env);
}

const answer = ({ authorization, chatId: conversationId, elicitationId }: Waiting, city: string) =>
  post(1, '/run/api/elicitation-responses', authorization, {
    conversationId,
    elicitationId,
    action: 'accept',
    content: { city },
  });

/** The chat as a reader on the second pod sees it at the end. */
async function end({ elsewhere }: Waiting) {
  const message = await elsewhere?.done;
  return { text: textOf(message), questions: questionsIn(message) };
}

/** Answers of people whose calls another pod then makes. Returns how many have the right result. */
async function answeredElsewhere(people: readonly Waiting[], round: number): Promise<number> {
  const before = modern.effects.length;
  const replies = await Promise.all(people.map((one, at) => answer(one, `City ${round}-${at}`)));
  expect(replies.map(({ status }) => status)).toEqual(people.map(() => 200));
  for (const [at, { text, questions }] of (await Promise.all(people.map(end))).entries()) {
    expect(text).toContain(`"city":"City ${round}-${at}"`);
    expect(questions.map(({ status }) => status)).toEqual(['accepted']);
  }
  expect(modern.effects.length - before).toBe(people.length);
  return people.length;
}

/** People whose calls are not made again. Returns how many have the right result. */
async function lost(people: readonly Waiting[]): Promise<number> {
  for (const { text, questions } of await Promise.all(people.map(end))) {
    expect(text).toContain('its outcome was lost with the pod that made it');
    expect(questions.map(({ status }) => status)).toEqual(['withdrawn']);
  }
  const late = await Promise.all(people.map((one) => answer(one, 'Bern')));
  expect(late.map(({ status }) => status)).toEqual(people.map(() => 409));
  return people.length;
}

function report(client: string, name: string, right: number, effects: number, repeated: number): void {
  rows.push({ client, name, calls: PEOPLE * ROUNDS.length, right, effects, repeated });
}

it('servers whose pod is killed: one of the 2026 revision gets the answers from another pod, and carries each call out once; one of the 2025 revision is not called again, and the model learns that the call was lost', async () => {
  let [right, rightLegacy] = [0, 0];
  for (const round of ROUNDS) {
    const [people, others] = await Promise.all([waiting('modern book'), waiting('legacy book')]);
    await replace('SIGKILL');
    right += await answeredElsewhere(people, round);
    rightLegacy += await lost(others);
    expect(legacy.calls.get('book')).toBe(PEOPLE * (round + 1));
    expect(legacy.effects).toEqual([]);
  }
  const calls = PEOPLE * ROUNDS.length;
  const done = modern.effects.length;
  report('server of 2026-07-28', 'the pod of the call ends by SIGKILL', right, done, done - calls);
  const repeated = (legacy.calls.get('book') ?? 0) - calls;
  report('server of 2025-11-25', 'the pod of the call is killed', rightLegacy, 0, repeated);
});

it('a server of the 2026 revision gets the answers from another pod when the pod of the call ends by SIGTERM, and carries each call out once', async () => {
  const before = modern.effects.length;
  let right = 0;
  for (const round of ROUNDS) {
    const people = await waiting('modern book');
    await replace('SIGTERM');
    right += await answeredElsewhere(people, round);
  }
  const done = modern.effects.length - before;
  report('server of 2026-07-28', 'the pod of the call ends by SIGTERM', right, done, done - right);
});

it('servers that ask the client of a call, whose pod is killed: one of the 2026 revision gets the reply that the other pod takes, one of the 2025 revision is not called again', async () => {
  const { authorization } = await person();
  let reply: (text: string) => void = () => undefined;
  const replied = new Promise<string>((resolve) => {
    reply = resolve;
  });
  let asked = 0;
  const sample = () => {
    asked += 1;
    return replied;
  };
  const urls = pods.map(({ url }) => url);
  const token = authorization.replace('Bearer ', '');
  const client = await v1Client({
    urls,
    fetch: splitFetch(urls),
    token,
    answer: () => ({ action: 'cancel' }),
    does: { sample },
  });
  const calls = ['writer__write', 'old_writer__write'].map((tool) => client.call('Greet.', { tool }));
  await waitUntil(() => asked === calls.length, { what: 'the requests' });
  const begun = [...pods];
  await replace('SIGKILL');
  reply('A greeting.');
  const [text, lostText] = (await Promise.all(calls)).map((called) => called.text);
  await client.close();
  expect(text).toContain('A greeting.');
  expect(lostText).toContain('its outcome was lost with the pod that made it');
  expect(requesting.map(({ effects }) => effects.length)).toEqual([1, 0]);
  const logged = [...begun, ...pods].flatMap(({ lines, stderr }) => [...lines, ...stderr]).join();
  for (const content of ['Greet.', 'A greeting.']) expect(logged).not.toContain(content);
});
