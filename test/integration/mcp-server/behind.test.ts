import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeOnRedis } from '../../harness/engines/describe-on-redis.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { userOf } from '../../harness/engines/questions.ts';
import {
  beginSession,
  errorOf,
  hear,
  modern,
  modernExchange,
  type RawSession,
  readReply,
  readUntil,
  send,
} from '../../harness/mcp-clients/raw.ts';
import { mcpSurface } from '../../harness/mcp-clients/setup.ts';
import { CITY } from '../../harness/mcp-servers/asking.ts';
import { type Revision, startMcpServer } from '../../harness/mcp-servers/mcp-servers.ts';
import { REVISIONS } from '../../harness/mcp-servers/setup.ts';
import { everyday, type FixtureContent } from '../../harness/mcp-servers/tools.ts';
import { newPerson, openQuestion, type Person, serveOn } from '../../harness/protocols/pods.ts';
import { startConfiguredPod } from '../../harness/turns/configured.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** What one of its prompts or resources says, once a city is known. */
const told = (method: string, words: string) =>
  method === 'prompts/get'
    ? { messages: [{ role: 'user', content: { type: 'text', text: words } }] }
    : { contents: [{ uri: 'city://asks', text: words }] };

const CONTENT: FixtureContent = {
  prompts: ['plain', 'asks'],
  resources: ['city://asks', 'city://changes', 'city://quiet', 'city://fourth'],
  async read(method, params, { legacy, modern: newer }) {
    if (params.name === 'plain') return told(method, 'nobody was asked');
    if (legacy !== undefined) return told(method, JSON.stringify(await legacy.ask(CITY)));
    const answer = newer?.responses?.city;
    return answer === undefined
      ? newer?.require({ city: CITY }, 'here')
      : told(method, JSON.stringify(answer));
  },
};

/** The reads during which the server asks, as a client requests them. */
const ASKING = [
  ['prompts/get', { name: 'desk__asks', arguments: {} }],
  ['resources/read', { uri: 'city://asks' }],
] as const;

const [CHANGES, QUIET] = ['city://changes', 'city://quiet'];
const BERN = { action: 'accept', content: { city: 'Bern' } };
const BERNS = expect.stringContaining('Bern');

await describeOnRedis('prompts and resources of a server behind Parley', (stores) => {
  /** A server, and two pods that offer what it has. */
  async function open(revision: Revision) {
    const server = await startMcpServer({ revision, fixture: { ...everyday, content: CONTENT } });
    onTestFinished(server.kill);
    const yaml = `mcpServers:
  desk: { title: Front Desk, transport: http, url: "${server.url}", credentialScope: none }
mcpOffer: { agents: [], tools: [{ server: desk, prompts: true, resources: true }] }
`;
    const pods = await Promise.all(
      (['backend', 'second'] as const).map(async (on) => {
        const backend = stores[on];
        const pod = startConfiguredPod({
          yaml,
          backend,
          engine: engineOn(backend),
          pod: `${on} of ${server.url}`,
        });
        const served = await serveOn(pod, { surfaceOf: mcpSurface({ roundMs: 5_000 }) });
        onTestFinished(served.stop);
        return { ...pod, ...served };
      }),
    );
    const [first, second] = pods as [(typeof pods)[0], (typeof pods)[0]];
    return { server, first, second, person: newPerson() };
  }

  describe.each(REVISIONS)('of the %s revision', (behind) => {
    it.each(ASKING)(
      '%s asks a client of 2025-11-25 on its stream, and is answered on another pod',
      async (method, params) => {
        const { first, second, person } = await open(behind);
        const session = await beginSession(first.url, person);
        const headers = session.headers;
        const reply = await send(
          first.url,
          { jsonrpc: '2.0', id: 7, method, params },
          { ...person, headers },
        );
        expect(reply.headers.get('content-type')).toContain('text/event-stream');
        const { id, definition } = await openQuestion(second.engine, person, 'pending');
        expect(definition).toMatchObject({ title: 'Front Desk asks', context: { agent: 'Front Desk' } });
        expect((await session.answer(second.url, id, BERN)).status).toBe(202);
        const { messages } = await readReply(reply);
        expect(messages.map((one) => one.method ?? one.id)).toEqual(['elicitation/create', 7]);
        expect(messages[0]?.params).toMatchObject({ message: 'Front Desk asks:\n\nWhich city?' });
        expect(JSON.stringify(messages.at(-1)?.result)).toEqual(BERNS);
      },
    );

    it.each(ASKING)('%s asks a client of 2026-07-28 by rounds, on any pod', async (method, params) => {
      const { first, second, person } = await open(behind);
      const asked = (await modernExchange(first.url, person, modern(method, params))).messages.at(-1)?.result;
      const [id = ''] = Object.keys(asked?.inputRequests ?? {});
      expect(asked?.inputRequests?.[id]).toMatchObject({
        method: 'elicitation/create',
        params: { message: 'Front Desk asks:\n\nWhich city?' },
      });
      const { requestState } = asked ?? {};
      const answered = { ...params, requestState, inputResponses: { [id]: BERN } };
      const other = await modernExchange(second.url, newPerson(), modern(method, answered));
      expect(errorOf(other)).toMatchObject({ code: -32602 });
      const told = await modernExchange(second.url, person, modern(method, answered));
      expect(JSON.stringify(told.messages.at(-1)?.result)).toEqual(BERNS);
      expect(told.messages.at(-1)?.result).toMatchObject({ resultType: 'complete' });
    });

    it('a prompt whose pod ends while it asks is continued on another one', async () => {
      const { first, second, person } = await open(behind);
      const session = await beginSession(first.url, person);
      const [method, params] = ASKING[0];
      const message = { jsonrpc: '2.0', id: 7, method, params };
      const reply = await send(first.url, message, { ...person, headers: session.headers });
      const heard = await readUntil(reply, 'elicitation/create');
      const lastId =
        heard
          .match(/^id: .*$/gm)
          ?.at(-1)
          ?.slice(4) ?? '';
      await first.close();
      const resumed = await session.resume(second.url, lastId);
      const { id } = await openQuestion(second.engine, person, 'pending');
      await session.answer(second.url, id, BERN);
      const { messages } = await readReply(resumed);
      expect(messages.at(-1)).toMatchObject({
        id: 7,
        result: { messages: [{ content: { text: BERNS } }] },
      });
    });

    it('a question of a prompt ends with the session of its client, as that of a tool does', async () => {
      const { first, second, person } = await open(behind);
      const session = await beginSession(first.url, person);
      const [method, params] = ASKING[0];
      const message = { jsonrpc: '2.0', id: 7, method, params };
      const reply = await send(first.url, message, { ...person, headers: session.headers });
      const { id } = await openQuestion(second.engine, person, 'pending');
      await session.exchange(second.url, undefined, { method: 'DELETE' });
      expect((await readReply(reply)).messages.at(-1)).toMatchObject({ id: 7, error: { code: -32603 } });
      const { row } = await first.engine.read(userOf(person), id);
      expect(row.status).toBe('withdrawn');
    });

    it('a prompt that asks nobody begins no run, and one that cannot ask says so', async () => {
      const { first, person } = await open(behind);
      const get = (name: string, capabilities?: object) =>
        modernExchange(first.url, person, modern('prompts/get', { name }, capabilities));
      expect((await get('desk__plain')).messages.at(-1)?.result).toMatchObject({
        messages: [{ role: 'user' }],
      });
      expect(errorOf(await get('desk__asks', {}))?.code).toBeLessThan(-32_000);
      expect(await first.turns.listRuns(person, 5)).toEqual([]);
    });

    it('a resource that changes is told on the stream of a session, whichever pod was asked to watch it, and to nobody else', async () => {
      const { server, first, second, person } = await open(behind);
      const [ada, again, bob] = await Promise.all([
        sit(first, person),
        sit(first, person),
        sit(first, newPerson()),
      ]);
      expect(await ada.subscribe(first, CHANGES)).toEqual({});
      // Here the pod of the stream begins to watch it alone, and nobody knows what happened before.
      expect(await bob.subscribe(second, QUIET)).toEqual({});
      await bob.told(1);
      expect(await again.subscribe(first, CHANGES)).toEqual({});
      await server.resourceChanged(CHANGES);
      await Promise.all([ada.told(1), again.told(1)]);
      await server.resourceChanged(QUIET);
      await bob.told(2);
      expect([ada.uris, again.uris, bob.uris]).toEqual([[CHANGES], [CHANGES], [QUIET, QUIET]]);

      expect(await ada.unsubscribe(second, CHANGES)).toEqual({});
      await server.resourceChanged(CHANGES);
      await again.told(2);
      await again.session.exchange(second.url, undefined, { method: 'DELETE' });
      await again.ended;
      expect(ada.uris).toHaveLength(1);
    });

    it('a stream that continues on another pod tells what may have changed before, and goes on', async () => {
      const { server, first, second, person } = await open(behind);
      const before = await sit(first, person);
      await before.subscribe(first, CHANGES);
      // The pod dies.
      first.stop();
      await before.ended;
      const after = await sit(second, person, before.session);
      await after.told(1);
      await server.resourceChanged(CHANGES);
      await after.told(2);
      // The server loses its connections, and its sessions where it has any.
      server.forgetSessions();
      server.cut();
      await after.told(3);
      await server.resourceChanged(CHANGES);
      await after.told(4);
    });

    it('what cannot be watched is refused, and so is one resource too many', async () => {
      const { first, person } = await open(behind);
      const { subscribe } = await sit(first, person);
      // A server of the newer revision has no word for a resource that it does not know.
      const refused = behind === 'old' ? { code: expect.any(Number) } : {};
      expect(await subscribe(first, 'city://nowhere')).toMatchObject(refused);
      for (const uri of CONTENT.resources.slice(0, 3)) await subscribe(first, uri);
      expect(await subscribe(first, 'city://fourth')).toMatchObject({
        code: -32602,
        message: 'At most 3 resources can be subscribed to at once; unsubscribe from one.',
      });
    });

    it('a client of 2026-07-28 listens to its own resources', async () => {
      const { server, first, second } = await open(behind);
      const [ada, bob] = [await listen(first, [CHANGES, 'city://nowhere']), await listen(second, [QUIET])];
      const nowhere = behind === 'old' ? [] : ['city://nowhere'];
      expect(ada.honored).toEqual({ resourceSubscriptions: [CHANGES, ...nowhere] });
      await server.resourceChanged(CHANGES);
      await server.resourceChanged(QUIET);
      await Promise.all([ada.told(1), bob.told(1)]);
      expect([ada.uris, bob.uris]).toEqual([[CHANGES], [QUIET]]);
      const tooMany = modern('subscriptions/listen', {
        notifications: { resourceSubscriptions: ['a:1', 'a:2', 'a:3', 'a:4'] },
      });
      expect(errorOf(await modernExchange(first.url, newPerson(), tooMany))).toMatchObject({
        code: -32602,
      });
    });
  });
});

interface PodAddress {
  readonly url: string;
}

/** A session of a person with its own stream, which is open on a pod. */
async function sit(pod: PodAddress, person: Person, known?: RawSession) {
  const session = known ?? (await beginSession(pod.url, person));
  const reply = await send(pod.url, undefined, { ...person, headers: session.headers, method: 'GET' });
  const ask =
    (method: string) =>
    async ({ url }: PodAddress, uri: string) => {
      const message = { jsonrpc: '2.0', id: randomUUID(), method, params: { uri } };
      const { messages } = await session.exchange(url, message);
      return messages.at(-1)?.result ?? messages.at(-1)?.error;
    };
  return {
    session,
    ...hearResources(reply),
    subscribe: ask('resources/subscribe'),
    unsubscribe: ask('resources/unsubscribe'),
  };
}

/** A person who listens to resources on a pod, by 2026-07-28. */
async function listen({ url }: PodAddress, resourceSubscriptions: readonly string[]) {
  const { body, headers } = modern('subscriptions/listen', { notifications: { resourceSubscriptions } });
  const heard = hearResources(await send(url, body, { ...newPerson(), headers }));
  const acknowledged = await waitUntil(async () => heard.messages[0], { what: 'the acknowledgement' });
  return { ...heard, honored: acknowledged.params?.notifications };
}

/** The resources that a stream tells, in order. */
function hearResources(reply: Response) {
  const uris: unknown[] = [];
  const heard = hear(reply, ({ method, params }) => {
    if (method === 'notifications/resources/updated') uris.push(params?.uri);
  });
  return {
    ...heard,
    uris,
    told: (count: number) =>
      waitUntil(async () => uris.length >= count, { what: `resource ${count} that changed` }),
  };
}
