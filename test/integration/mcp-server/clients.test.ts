import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { caseOf, KINDS } from '../../harness/cli/kinds.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import {
  type AskedOfClient,
  CLIENTS,
  type ClientAnswer,
  type Shows,
  type StockClient,
} from '../../harness/mcp-clients/clients.ts';
import { ANSWER_PAGE_URL, type McpSite, openMcpSite } from '../../harness/mcp-clients/setup.ts';
import { listOpenOf, newPerson, openQuestion, type Person } from '../../harness/protocols/pods.ts';
import { waitUntil } from '../../harness/wait-until.ts';

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
      person = newPerson(),
    ) {
      const asked: AskedOfClient[] = [];
      const client = await open({
        urls: site.pods.map(({ url }) => url),
        token: person.token,
        answer(question, signal) {
          asked.push(question);
          return answer(question, signal);
        },
        ...(shows !== undefined && { shows }),
      });
      clients.push(client);
      const opened = async () => (await openQuestion(site.pods[0].engine, person, 'opened')).id;
      return { client, person, asked, opened };
    }

    it('finds the agent as a tool and gets its answer; the call is in no list of chats', async () => {
      const { client, person } = await connect(() => GREEN);
      const helper = { name: 'helper', annotations: { openWorldHint: true } };
      expect(await client.listTools()).toMatchObject([helper]);
      expect(await client.call('hello: you')).toEqual({ text: 'Hello: hello: you', isError: false });
      const chats = await site.pods[0].backend.conversations.list(person, { limit: 5 });
      expect(chats.conversations).toEqual([]);
    });

    it('answers every kind of the table', async () => {
      const { client, asked } = await connect(({ message }) => {
        const [lead, ...words] = message.split('\n\n');
        expect(lead).toBe('The helper asks:');
        const { content } = caseOf(words.join('\n\n'));
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

    it('is asked again when an answer does not fit, and goes on with the next one [MCP25-30]', async () => {
      const answers: ClientAnswer[] = [
        { action: 'accept', content: {} },
        { action: 'accept', content: { answer: 7 } },
      ];
      const { client, asked } = await connect(() => answers.shift() ?? GREEN);
      expect((await client.call('text: again')).text).toContain('green');
      expect(asked).toHaveLength(3);
    });

    it('learns that a question was answered in another place', async () => {
      let isCancelled = false;
      let end: () => void = () => undefined;
      const answered = new Promise<ClientAnswer>((resolve) => {
        end = () => resolve({ action: 'cancel' });
      });
      const { client, person } = await connect((_question, signal) => {
        signal.addEventListener('abort', () => {
          isCancelled = true;
          end();
        });
        return answered;
      });
      const calling = client.call('text: elsewhere');
      const { engine } = site.pods[1];
      const { id } = await openQuestion(engine, person);
      await answerQuestion(engine, person, id, 'accept', { answer: 'blue' });
      // In the rounds of this revision nothing tells the client; its person gives up.
      if (isModern) end();
      expect((await calling).text).toContain('blue');
      if (!isModern) expect(isCancelled).toBe(true);
    });

    it('with urls alone is shown the page of a form, and the call goes on with what was answered there [MCP25-17 MCP25-20 MCP25-22]', async () => {
      const { client, person, asked, opened } = await connect(() => ({ action: 'accept' }), { url: {} });
      const calling = client.call(`text: page ${name}`);
      const id = await opened();
      await answerQuestion(site.pods[1].engine, person, id, 'accept', { answer: 'violet' });
      expect((await calling).text).toContain('violet');
      expect(asked).toEqual([expect.objectContaining({ mode: 'url', url: expect.stringContaining(id) })]);
      if (!isModern) expect([client.completed, asked[0]?.elicitationId]).toEqual([[id], id]);
    });

    it('that declares `elicitation: {}` is asked by form alone, and is told the page of a question by url [MCP25-08 MCP25-11 MCP25-14 MCP26-08]', async () => {
      const { client, asked, person } = await connect(() => GREEN, {});
      const told = await client.call(`text page: ${name}`);
      const { id } = await openQuestion(site.pods[0].engine, person);
      expect(told).toEqual({ text: expect.stringContaining(`${ANSWER_PAGE_URL}${id} `), isError: true });
      await answerQuestion(site.pods[0].engine, person, id, 'decline');
      expect((await client.call(`text page: ${name}`)).text).toMatch(/green.*declined|declined.*green/s);
      expect(asked.map(({ mode = 'form' }) => mode)).toEqual(['form']);
      const requestedSchema = { type: 'object', properties: { answer: { type: 'string' } } };
      expect(asked).toMatchObject([{ message: 'The helper asks:\n\nWhich colour?', requestedSchema }]);
    });

    describe('without the capability', () => {
      const open = (person?: Person) => connect(() => GREEN, false, person);

      it('is told the page; the same call goes on after the answer there, twice at once, in other sessions, and what it does is done once', async () => {
        const { client, person } = await open();
        const message = `text work: told ${name}`;
        const told = await client.call(message);
        const { id } = await openQuestion(site.pods[1].engine, person);
        expect(told).toEqual({ text: expect.stringContaining(`${ANSWER_PAGE_URL}${id} `), isError: true });
        expect(told.text).toContain('Which colour?');
        await answerQuestion(site.pods[1].engine, person, id, 'accept', { answer: 'teal' });
        const others = await Promise.all([open(person), open(person)]);
        for (const { text, isError } of await Promise.all(others.map((other) => other.client.call(message))))
          expect([text, isError]).toEqual([expect.stringContaining('teal'), false]);
        expect(site.done.get(message)).toBe(1);
        expect(await listOpenOf(site.pods[0].engine, person)).toEqual([]);
      });

      it('that repeats its call before the answer joins it, is told again, and gets the answer that comes after', async () => {
        const { client, person } = await open();
        const message = `text: early ${name}`;
        const told = await client.call(message);
        expect(await client.call(message)).toEqual(told);
        const { id } = await openQuestion(site.pods[0].engine, person);
        const joining = client.call(message);
        await answerQuestion(site.pods[0].engine, person, id, 'decline');
        expect((await joining).text).toContain('declined');
      });

      it('does not join the equal call of another person', async () => {
        const message = `text: mine ${name}`;
        const [alice, bob] = [await open(), await open()];
        const told = [await alice.client.call(message), await bob.client.call(message)];
        for (const [at, { person }] of [alice, bob].entries()) {
          const { id } = await openQuestion(site.pods[0].engine, person);
          expect(told.map(({ text }) => text.includes(id))).toEqual([at === 0, at === 1]);
        }
      });
    });

    it('gets progress while a call waits [T25-33]', async () => {
      const { client } = await connect(async () => {
        await waitUntil(() => client.progress.length > 2 || isModern, { what: 'progress' });
        return GREEN;
      });
      await client.call('text: slow');
      expect(client.progress.length).toBeGreaterThan(0);
      // The client of that revision counts its rounds as progress, too.
      if (!isModern) expect([...new Set(client.progress)].sort((a, b) => a - b)).toEqual(client.progress);
    });
  },
);
