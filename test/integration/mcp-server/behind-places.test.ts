import { expect, it, onTestFinished } from 'vitest';
import { answerQuestion } from '../../harness/engines/questions.ts';
import {
  beginSession,
  errorOf,
  modern,
  modernExchange,
  readUntil,
  send,
} from '../../harness/mcp-clients/raw.ts';
import { ANSWER_PAGE_URL, mcpSurface } from '../../harness/mcp-clients/setup.ts';
import { CITY } from '../../harness/mcp-servers/asking.ts';
import {
  type McpServerOptions,
  type Revision,
  startMcpServer,
} from '../../harness/mcp-servers/mcp-servers.ts';
import { REVISIONS } from '../../harness/mcp-servers/setup.ts';
import { everyday, type FixtureContent } from '../../harness/mcp-servers/tools.ts';
import { newPerson, openQuestion, serveOn } from '../../harness/protocols/pods.ts';
import { startConfiguredPod } from '../../harness/turns/configured.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const told = (words: string) => ({ contents: [{ uri: 'city://asks', text: words }] });
// More than the notices of one second that are read.
const MANY = Array.from({ length: 300 }, (_, at) => `city://${at}`);
const CONTENT: FixtureContent = {
  prompts: [],
  resources: ['city://asks', 'city://changes', ...MANY],
  async read(_method, _params, { legacy, modern: newer }) {
    if (legacy !== undefined) return told(JSON.stringify(await legacy.ask(CITY)));
    const answer = newer?.responses?.city;
    return answer === undefined ? newer?.require({ city: CITY }, 'here') : told(JSON.stringify(answer));
  },
};

/** A server, and a pod with hosted pages that offers its resources. */
async function open(revision: Revision, instead?: McpServerOptions['instead']) {
  const fixture = { ...everyday, content: CONTENT };
  const server = await startMcpServer({ revision, fixture, ...(instead && { instead }) });
  onTestFinished(server.kill);
  const yaml = `mcpServers:
  desk: { title: Front Desk, transport: http, url: "${server.url}", credentialScope: none }
mcpOffer: { agents: [], tools: [{ server: desk, resources: true }] }
`;
  const pod = startConfiguredPod({ yaml, hasAnswerPage: true });
  const served = await serveOn(pod, {
    surfaceOf: mcpSurface({ roundMs: 5_000, subscriptionsMax: MANY.length }),
  });
  onTestFinished(served.stop);
  return { server, pod, url: served.url, person: newPerson() };
}

it.each(REVISIONS)(
  'a client that shows nothing is told the page of what a server of the %s revision asks during a read, and reads again after the answer there',
  async (behind) => {
    const { server, pod, url, person } = await open(behind);
    const read = () => modernExchange(url, person, modern('resources/read', { uri: 'city://asks' }, {}));
    const refused = errorOf(await read());
    const { id } = await openQuestion(pod.engine, person, 'pending');
    expect(refused).toMatchObject({
      code: -32603,
      message: expect.stringContaining(`${ANSWER_PAGE_URL}${id} `),
    });
    if (behind === 'old') {
      // The request that was sent first has ended at the server, too.
      const [first] = server.seen.filter(({ rpc }) => rpc === 'resources/read');
      expect(server.seen.map(({ cancels }) => cancels)).toContain(first?.id);
    }
    await answerQuestion(pod.engine, person, id, 'accept', { city: 'Bern' });
    const { messages } = await read();
    expect(JSON.stringify(messages.at(-1)?.result)).toContain('Bern');
  },
);

it.each(REVISIONS)(
  'resources of a server of the %s revision are subscribed to by addresses that name it, and told by them',
  async (behind) => {
    const { server, url, person } = await open(behind);
    const session = await beginSession(url, person);
    const stream = await send(url, undefined, { ...person, headers: session.headers, method: 'GET' });
    const uri = 'city://desk~changes';
    const ask = (method: string) =>
      session.exchange(url, { jsonrpc: '2.0', id: method, method, params: { uri } });
    expect((await ask('resources/subscribe')).messages.at(-1)?.result).toEqual({});
    const { body, headers } = modern('subscriptions/listen', {
      notifications: { resourceSubscriptions: [uri, 'city://elsewhere~changes'] },
    });
    const listening = await send(url, body, { ...newPerson(), headers });
    const heard = Promise.all([readUntil(stream, `"uri":"${uri}"`), readUntil(listening, `"uri":"${uri}"`)]);
    let isHeard = false;
    void heard.then(() => {
      isHeard = true;
    });
    await waitUntil(
      async () => {
        await server.resourceChanged('city://changes');
        return isHeard || undefined;
      },
      { what: 'the change' },
    );
    expect((await heard).join()).not.toContain('"city://changes"');
    expect((await ask('resources/unsubscribe')).messages.at(-1)?.result).toEqual({});
  },
);

it.each(REVISIONS)(
  'of a server of the %s revision, many resources that change at once are all told',
  async (behind) => {
    const { server, url } = await open(behind);
    const { body, headers } = modern('subscriptions/listen', {
      notifications: { resourceSubscriptions: MANY },
    });
    const listening = await send(url, body, { ...newPerson(), headers });
    const reader = listening.body?.pipeThrough(new TextDecoderStream()).getReader();
    onTestFinished(() => reader?.cancel().catch(() => undefined));
    let text = '';
    async function read(): Promise<void> {
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true };
        if (done) return;
        text += value;
      }
    }
    void read().catch(() => undefined);
    await waitUntil(async () => text.includes('acknowledged') || undefined, { what: 'the acknowledgement' });
    for (const uri of MANY) await server.resourceChanged(uri);
    const isTold = (uri: string) => text.includes(`"params":{"uri":"${uri}"`);
    await waitUntil(async () => MANY.every(isTold) || undefined, { what: 'all of them' });
  },
);

it('a resource is told when the stream of its server begins late: what changed before that is not known', async () => {
  let begin: () => void = () => undefined;
  const { server, url, person } = await open('old', ({ method }, reply) => {
    if (method !== 'GET') return false;
    begin = () => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.flushHeaders();
    };
    return true;
  });
  const session = await beginSession(url, person);
  const stream = await send(url, undefined, { ...person, headers: session.headers, method: 'GET' });
  const uri = 'city://changes';
  const method = 'resources/subscribe';
  const reply = await session.exchange(url, { jsonrpc: '2.0', id: 1, method, params: { uri } });
  expect(reply.messages.at(-1)?.result).toEqual({});
  expect(server.count(method)).toBe(1);
  begin();
  expect(await readUntil(stream, 'resources/updated')).toContain(uri);
});
