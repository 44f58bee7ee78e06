import { describe, expect, it, onTestFinished } from 'vitest';
import { createRoundSeals } from '../../../services/api/src/agents/tools/passthrough/rounds.ts';
import { describeOnRedis } from '../../harness/engines/describe-on-redis.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { splitFetch } from '../../harness/http/pick-fetch.ts';
import { CLIENTS, type ClientOptions } from '../../harness/mcp-clients/clients.ts';
import { beginSession, modern, modernExchange, readUntil } from '../../harness/mcp-clients/raw.ts';
import { mcpSurface } from '../../harness/mcp-clients/setup.ts';
import type { Revision } from '../../harness/mcp-servers/mcp-servers.ts';
import { startRequestingServer, UNDECLARED } from '../../harness/mcp-servers/requesting.ts';
import { newPerson, serveOn } from '../../harness/protocols/pods.ts';
import { startConfiguredPod } from '../../harness/turns/configured.ts';
import { TIMING } from '../../harness/turns/site.ts';
import { newKeys } from '../../harness/vault/stores.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const REVISIONS: readonly Revision[] = ['old', 'new'];
const KEYS = newKeys();
const ROOTS = ['file:///home/ada'];

const DECLARED = { elicitation: { form: {} }, sampling: {}, roots: {} };
const REPLIES = {
  'elicitation/create': { action: 'accept', content: { city: 'Bern' } },
  'sampling/createMessage': {
    role: 'assistant',
    model: 'raw',
    content: { type: 'text', text: 'A greeting.' },
  },
  'roots/list': { roots: [{ uri: ROOTS[0] }] },
};

interface OpenOptions extends Pick<ClientOptions, 'does'> {
  readonly limits?: string;
  /** As `splitFetch` does it. */
  readonly splits?: boolean;
}

/** The id of the request to the client in the stream of a call. */
async function requestIn(reply: Response): Promise<string> {
  const text = await readUntil(reply, 'sampling/createMessage');
  return /"id":"(cr_[^"]+)"/.exec(text)?.[1] ?? '';
}

await describeOnRedis('what a server asks its client for', (stores) => {
  /** Two pods that offer the tools of a server, and an official client whose every request goes to a random one. */
  async function open(
    revision: Revision,
    client: keyof typeof CLIENTS,
    { limits = '', splits = false, does }: OpenOptions,
  ) {
    const server = await startRequestingServer(revision);
    onTestFinished(server.kill);
    const pods = await Promise.all(
      (['backend', 'second'] as const).map(async (on) => {
        const backend = stores[on];
        const pod = startConfiguredPod({
          yaml: `mcpServers:
  desk: { title: Desk, transport: http, url: "${server.url}", credentialScope: none }
mcpOffer: { tools: [{ server: desk, prefix: false${limits} }] }
`,
          backend,
          engine: engineOn(backend),
          rounds: createRoundSeals(KEYS),
          leaseTiming: TIMING,
          pod: `${on} of ${server.url}`,
        });
        const served = await serveOn(pod, { surfaceOf: mcpSurface() });
        onTestFinished(served.stop);
        return { ...pod, ...served };
      }),
    );
    const { token } = newPerson();
    const urls = pods.map(({ url }) => url);
    const answer = () => ({ action: 'accept' as const, content: { city: 'Bern' } });
    const opened = await CLIENTS[client]({
      urls,
      token,
      answer,
      ...(does !== undefined && { does }),
      ...(splits && { fetch: splitFetch(urls) }),
    });
    onTestFinished(() => opened.close());
    return { server, pods, client: opened, token };
  }

  describe.each(REVISIONS)('a server of the %s revision', (revision) => {
    it.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])(
      'gets it from the client %s that declares it, together with the answer of the person [SAMP-01]',
      async (name) => {
        const seen: object[] = [];
        const sample = (params: object) => {
          seen.push(params);
          return 'A greeting.';
        };
        const { server, client } = await open(revision, name, { does: { sample, roots: ROOTS } });
        const { text } = await client.call('Greet.', { tool: 'all' });
        expect(JSON.parse(text)).toMatchObject({
          city: { action: 'accept', content: { city: 'Bern' } },
          text: { role: 'assistant', content: { type: 'text', text: 'A greeting.' }, model: 'stock' },
          folders: { roots: [{ uri: ROOTS[0] }] },
        });
        expect(seen).toMatchObject([
          { messages: [{ role: 'user', content: { type: 'text', text: 'Greet.' } }], maxTokens: 50 },
        ]);
        expect(server.effects).toHaveLength(1);
      },
    );

    it('gets it during a prompt, too, from a client that answers on another pod', async () => {
      const { pods, token } = await open(revision, 'v1', { limits: ', prompts: true' });
      const [first, second] = pods.map(({ url }) => url) as [string, string];
      const get = (url: string, more: object = {}, declared: object = DECLARED) => {
        const params = { name: 'all', arguments: { message: 'Greet.' }, ...more };
        return modernExchange(url, { token }, modern('prompts/get', params, declared));
      };
      const { inputRequests = {}, requestState } = (await get(first)).messages.at(-1)?.result ?? {};
      const responses = Object.entries(inputRequests as Readonly<Record<string, { method: string }>>).map(
        ([id, { method }]) => [id, REPLIES[method as keyof typeof REPLIES]],
      );
      expect(responses).toHaveLength(3);
      const answered = { requestState, inputResponses: Object.fromEntries(responses) };
      const { messages } = await get(second, answered);
      const told = messages.at(-1)?.result as { messages?: [{ content: { text: string } }] };
      expect(JSON.parse(told.messages?.[0].content.text ?? '{}')).toMatchObject({
        city: REPLIES['elicitation/create'],
        text: REPLIES['sampling/createMessage'],
        folders: REPLIES['roots/list'],
      });
      const undeclared = await get(first, {}, { elicitation: { form: {} } });
      expect(undeclared.messages.at(-1)?.error?.code).toBeLessThan(-32_000);
    });

    it('goes on without a reply after the time for one, and the client is told', async () => {
      let isCancelled = false;
      const sample = (_params: unknown, signal: AbortSignal) =>
        new Promise<string>((resolve) =>
          signal.addEventListener('abort', () => {
            isCancelled = true;
            resolve('too late');
          }),
        );
      const limits = ', limits: { questionTimeoutSeconds: 1 }';
      const { server, client } = await open(revision, 'v1', { does: { sample }, limits });
      const call = client.call('Greet.', { tool: 'write' });
      await expect(call).resolves.toMatchObject({
        isError: true,
        text: expect.stringContaining('in time'),
      });
      expect([isCancelled, server.effects]).toEqual([true, []]);
    });

    it('is given no context of other servers [SAMP-08]', async () => {
      const seen: object[] = [];
      const sample = (params: object) => String(seen.push(params));
      const { client } = await open(revision, 'v1', { does: { sample } });
      expect((await client.call('Greet.', { tool: 'context' })).isError).toBe(false);
      expect(seen).toEqual([expect.objectContaining({ systemPrompt: 'Be brief.' })]);
      expect(seen).not.toContainEqual(expect.objectContaining({ includeContext: expect.anything() }));
    });

    it('learns the refusal of the client', async () => {
      const sample = () => Promise.reject(new Error('Not today.'));
      const { server, client } = await open(revision, 'v1', { does: { sample } });
      const call = client.call('Greet.', { tool: 'write' });
      await expect(call).resolves.toMatchObject({
        isError: true,
        text: expect.stringContaining('Not today.'),
      });
      expect(server.errors.map(({ code }) => code)).toEqual(revision === 'old' ? [-32603] : []);
    });

    it('gets the reply that another pod takes, although the pod of the call has handed it over', async () => {
      const asked: object[] = [];
      let reply: (text: string) => void = () => undefined;
      const replied = new Promise<string>((resolve) => {
        reply = resolve;
      });
      const sample = (params: object) => {
        asked.push(params);
        return replied;
      };
      const { server, client, pods } = await open(revision, 'v1', { does: { sample }, splits: true });
      const call = client.call('Greet.', { tool: 'write' });
      await waitUntil(() => asked.length > 0, { what: 'the request' });
      await pods[0]?.turns.close();
      reply('A greeting.');
      const { text, isError } = await call;
      if (revision === 'new')
        expect([text, server.effects]).toEqual([expect.stringContaining('A greeting.'), [text]]);
      // Its connection has ended with the pod, and with it what it asked.
      else expect([isError, text]).toEqual([true, expect.stringContaining('lost')]);
      expect(asked).toHaveLength(1);
    });
  });

  it('ends with its session: a late reply changes nothing, and the next call asks anew', async () => {
    const { server, pods, token } = await open('old', 'v1', {});
    const [first = '', second = ''] = pods.map(({ url }) => url);
    const capabilities = { sampling: {} };
    const ask = async () => {
      const session = await beginSession(first, { token }, capabilities);
      const reply = await session.call(first, 1, 'Greet.', { name: 'write' });
      return { session, id: await requestIn(reply) };
    };
    const { session, id } = await ask();
    expect((await session.exchange(second, undefined, { method: 'DELETE' })).status).toBe(204);
    const again = await ask();
    expect(again.id).not.toBe(id);
    const result = { role: 'assistant', content: { type: 'text', text: 'Late.' }, model: 'raw' };
    expect((await again.session.answer(second, id, result)).status).toBe(202);
    expect(server.effects).toEqual([]);
    expect((await again.session.answer(second, again.id, result)).status).toBe(202);
    await waitUntil(() => server.effects.length === 1, { what: 'the effect of the second call' });
  });

  describe('what was not declared', () => {
    it('is refused with -32601 in the 2025 revision [SAMP-02]', async () => {
      const { server, client } = await open('old', 'v1', {});
      for (const tool of ['write', 'folders']) expect((await client.call('', { tool })).isError).toBe(true);
      expect(server.errors.map(({ code }) => code)).toEqual([-32601, -32601]);
    });

    it('is refused with -32602 where sampling is declared without tools [SAMP-03]', async () => {
      const { server, client } = await open('old', 'v1', { does: { sample: () => 'never' } });
      expect((await client.call('', { tool: 'tools' })).isError).toBe(true);
      expect(server.errors).toMatchObject([{ code: -32602 }]);
    });

    it('ends the call with -32021, which names it, in the 2026 revision [SAMP-02]', async () => {
      const { client } = await open('new', 'v2 (2026-07-28)', {});
      const call = client.call('', { tool: UNDECLARED });
      await expect(call).rejects.toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { sampling: {} } },
      });
    });
  });
});
