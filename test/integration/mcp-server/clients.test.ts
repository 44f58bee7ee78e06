import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { caseOf, KINDS } from '../../harness/cli/kinds.ts';
import {
  type AskedOfClient,
  CLIENTS,
  type ClientAnswer,
  type Shows,
  type StockClient,
} from '../../harness/mcp-clients/clients.ts';
import { type McpSite, newPerson, openMcpSite, PAGE_URL } from '../../harness/mcp-clients/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let site: McpSite;
const clients: StockClient[] = [];
beforeAll(async () => {
  site = await openMcpSite();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(() => site?.stop());

const GREEN: ClientAnswer = { action: 'accept', content: { answer: 'green' } };

describe.each(Object.entries(CLIENTS))(
  'the official client %s, at a random pod for each request',
  (name, open) => {
    const isModern = name.includes('2026');

    async function connect(
      answer: (asked: AskedOfClient, signal: AbortSignal) => Promise<ClientAnswer> | ClientAnswer,
      shows?: false | Shows,
    ) {
      const person = newPerson();
      const urls = site.pods.map(({ url }) => url);
      const client = await open({ urls, token: person.token, answer, ...(shows !== undefined && { shows }) });
      clients.push(client);
      return { client, person };
    }

    /** Finishes the page of the person's question, as the connect page does. */
    async function finishPage({ tenant, userId }: { readonly tenant: string; readonly userId: string }) {
      const engine = site.pods[0]?.engine;
      const list = async () =>
        (await engine?.list({ owner: { tenant, userId }, statuses: ['opened'], limit: 5 }))?.rows ?? [];
      await waitUntil(async () => (await list()).length > 0, { what: 'consent to open the page' });
      const [row] = await list();
      await engine?.complete({ caller: { kind: 'service', tenant }, id: row?.id ?? '', surface: 'page' });
    }

    it('finds the agent as a tool and gets its answer; the call is in no list of chats', async () => {
      const { client, person } = await connect(() => GREEN);
      expect(await client.listTools()).toMatchObject([
        { name: 'helper', annotations: { openWorldHint: true } },
      ]);
      expect(await client.call('hello: you')).toEqual({ text: 'Hello: hello: you', isError: false });
      const chats = await site.pods[0]?.backend.conversations.list(person, { limit: 5 });
      expect(chats?.conversations).toEqual([]);
    });

    it('is asked by form, and accepts, declines or cancels [MCP25-11 MCP25-14]', async () => {
      const asked: AskedOfClient[] = [];
      const answers: ClientAnswer[] = [GREEN, { action: 'decline' }, { action: 'cancel' }];
      const { client } = await connect((question) => {
        asked.push(question);
        return answers.shift() ?? GREEN;
      });
      expect((await client.call('text: 1')).text).toContain('green');
      expect((await client.call('text: 2')).text).toContain('declined');
      expect((await client.call('text: 3')).text).toMatch(/dismissed|cancel/);
      expect(asked).toHaveLength(3);
      expect(asked[0]).toMatchObject({
        message: 'Which colour?',
        requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } },
      });
    });

    it('answers every kind of the table', async () => {
      const asked: AskedOfClient[] = [];
      const { client } = await connect((question) => {
        asked.push(question);
        const { content } = caseOf(question.message);
        return { action: 'accept', ...(content !== undefined && { content: content as never }) };
      });
      for (const [at, { ask, value }] of KINDS.entries()) {
        const { text } = await client.call(`kind-${at}: ${name}`);
        const isSole = ask.kind !== 'form' && ask.kind !== 'approval';
        const values = value === undefined ? {} : isSole ? { answer: value } : (value as object);
        expect(JSON.parse(text.slice(text.indexOf('{')))).toEqual({ status: 'accepted', ...values });
      }
      expect(asked).toHaveLength(KINDS.length);
    });

    it('is asked by url: consent opens it, and the call goes on when the page is done [MCP25-17 MCP25-20 MCP25-22]', async () => {
      const asked: AskedOfClient[] = [];
      const { client, person } = await connect((question) => {
        asked.push(question);
        return { action: 'accept' };
      });
      const calling = client.call('page: 1');
      await finishPage(person);
      expect((await calling).text).toContain('accepted');
      expect(asked).toEqual([expect.objectContaining({ mode: 'url', url: PAGE_URL })]);
      if (isModern) return;
      expect(client.completed).toEqual([asked[0]?.elicitationId]);
    });

    it('is asked two questions at once', async () => {
      const { client, person } = await connect(({ mode }) => (mode === 'url' ? { action: 'accept' } : GREEN));
      const calling = client.call(`text page work: ${name}`);
      await finishPage(person);
      const { text } = await calling;
      expect(text).toContain('green');
      expect(text).toContain('accepted');
      expect(site.done.get(`text page work: ${name}`)).toBe(1);
    });

    it('learns that a question was answered in another place', async () => {
      let isCancelled = false;
      const { client, person } = await connect(
        (_question, signal) =>
          new Promise((resolve) => {
            const end = () => {
              isCancelled = true;
              resolve({ action: 'cancel' });
            };
            if (isModern) setTimeout(end, 300);
            else signal.addEventListener('abort', end);
          }),
      );
      const calling = client.call('text: elsewhere');
      const { tenant, userId } = person;
      const engine = site.pods[1]?.engine;
      const list = async () =>
        (await engine?.list({ owner: { tenant, userId }, statuses: ['pending'], limit: 5 }))?.rows ?? [];
      await waitUntil(async () => (await list()).length > 0, { what: 'the question' });
      const [row] = await list();
      const response = { action: 'accept', content: { answer: 'blue' } } as const;
      await engine?.answer({
        caller: { kind: 'user', tenant, userId },
        id: row?.id ?? '',
        response,
        surface: 'api',
      });
      expect((await calling).text).toContain('blue');
      if (!isModern) expect(isCancelled).toBe(true);
    });

    it('gets the end of a question that expires [MRTR-17]', async () => {
      const { client } = await connect(
        (_question, signal) =>
          new Promise((resolve) => {
            const end = () => resolve({ action: 'cancel' });
            signal.addEventListener('abort', end);
            setTimeout(end, 2_500).unref();
          }),
      );
      expect((await client.call('short: late')).text).toContain('expired');
    });

    it('with urls alone is shown the page of a form, and the call goes on with what was answered there', async () => {
      const asked: AskedOfClient[] = [];
      const { client, person } = await connect(
        (question) => {
          asked.push(question);
          return { action: 'accept' };
        },
        { url: {} },
      );
      const calling = client.call(`text: page ${name}`);
      const { tenant, userId } = person;
      const engine = site.pods[1]?.engine;
      const list = async () =>
        (await engine?.list({ owner: { tenant, userId }, statuses: ['opened'], limit: 5 }))?.rows ?? [];
      await waitUntil(async () => (await list()).length > 0, { what: 'consent to open the page' });
      const id = (await list())[0]?.id ?? '';
      const response = { action: 'accept', content: { answer: 'violet' } } as const;
      await engine?.answer({ caller: { kind: 'user', tenant, userId }, id, response, surface: 'page' });
      expect((await calling).text).toContain('violet');
      expect(asked).toEqual([expect.objectContaining({ mode: 'url', url: expect.stringContaining(id) })]);
      if (!isModern) expect(client.completed).toEqual([id]);
    });

    it('that declares `elicitation: {}` is asked by form alone [MCP25-08 MCP26-08]', async () => {
      const modes: unknown[] = [];
      const { client } = await connect(({ mode = 'form' }) => {
        modes.push(mode);
        return GREEN;
      }, {});
      expect((await client.call(`text page: ${name}`)).text).toContain('green');
      expect(modes).toEqual(['form']);
    });

    it('without the capability is not asked, and the agent continues', async () => {
      const { client } = await connect(() => GREEN, false);
      expect((await client.call('text: nobody')).text).toMatch(/cannot show|Nobody was asked/);
    });

    it('gets progress while a call waits', async () => {
      const { client } = await connect(async () => {
        await waitUntil(() => client.progress.length > 2 || isModern, { what: 'progress' });
        return GREEN;
      });
      await client.call('text: slow');
      expect(client.progress.length).toBeGreaterThan(0);
      // The client of that revision counts its rounds as progress, too.
      if (isModern) return;
      expect([...client.progress].sort((a, b) => a - b)).toEqual(client.progress);
    });
  },
);
