import type { Row } from '@parley/shared/domain/elicitations/row';
import { DETACHED, type RunRef, type Support } from '@parley/shared/domain/runs/run';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRoundSeals } from '../../../services/api/src/agents/tools/passthrough/rounds.ts';
import { describeOnRedis } from '../../harness/engines/describe-on-redis.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { createAskingFixture, IMITATION } from '../../harness/mcp-servers/asking.ts';
import { type Offered, type Revision, startMcpServer } from '../../harness/mcp-servers/mcp-servers.ts';
import { createRevisionServers, type MakeServer } from '../../harness/mcp-servers/revisions.ts';
import { startConfiguredPod } from '../../harness/turns/configured.ts';
import { modelOf, TIMING, worldOn } from '../../harness/turns/site.ts';
import { newKeys } from '../../harness/vault/stores.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const REVISIONS: readonly Revision[] = ['old', 'new'];
const KEYS = newKeys();
const NEWER = 'protocol: "2026-07-28"';

/** "<tool> <json>" calls that tool of the server; then the model repeats what the tool said. */
const model = modelOf(({ userText, results }) => {
  if (results.length > 0) return { text: results.map(({ text }) => text).join(' & ') };
  const [, name = '', json = '{}'] = /^(\S+) ?(.*)$/.exec(userText) ?? [];
  return { calls: [{ name: `desk__${name}`, arguments: JSON.parse(json || '{}') }] };
});

await describeOnRedis('the questions of an MCP server', (pods) => {
  interface PodOptions {
    readonly on?: 'backend' | 'second';
    readonly config?: string;
    readonly limits?: string;
    readonly make?: MakeServer;
  }

  /** One pod whose agent uses the server at `url`. */
  function join(url: string, { on = 'backend', config = '', limits = '' }: PodOptions = {}) {
    return startConfiguredPod({
      yaml: `models:
  scripted: { provider: openai-compatible, baseUrl: "${model.current.url}", model: scripted }
agents:
  helper: { title: Helper, model: scripted, instructions: Be brief., tools: [{ server: desk }], limits: { toolTimeoutSeconds: 60${limits} } }
mcpServers:
  desk: { title: Front Desk, transport: http, url: "${url}", credentialScope: none${config} }
mcpOffer: { tools: [{ server: desk }] }
`,
      backend: pods[on],
      engine: engineOn(pods[on]),
      rounds: createRoundSeals(KEYS),
      leaseTiming: TIMING,
      pod: `${on} of ${url}`,
    });
  }

  /** A server, a pod that uses it, and a person who talks to its agent. */
  async function open(revision: Offered, { make, ...options }: PodOptions = {}) {
    const fixture = createAskingFixture();
    const server = await startMcpServer({ revision, fixture, ...(make && { make }) });
    onTestFinished(server.kill);
    const world = worldOn(model, {}, pods.backend, pods.second);
    const pod = join(server.url, options);
    return {
      ...world,
      fixture,
      server,
      pod,
      begin: (text: string, more: { support?: Support; delivery?: 'detach' } = {}) =>
        pod.turns.begin({ ...world.saying(text), ...more }),
      /** What the model was given, once the turn is over. */
      async words(run: RunRef): Promise<string> {
        expect(await world.ended(run)).toBe('finished');
        return world.text(run);
      },
      accept: (row: Row | undefined, content?: object) =>
        answerQuestion(world.engine, world.conversation, row?.id ?? '', 'accept', content as never),
      /** The only question that is open, once it is a form. */
      asksWhetherFinished: () =>
        waitUntil(
          async () => {
            const [row, ...others] = await world.open();
            return others.length === 0 && row?.definition.mode === 'form' && row;
          },
          { what: 'the question whether the person has finished' },
        ),
    };
  }

  describe.each(REVISIONS)('of the %s revision', (revision) => {
    it('become elicitations that name the server, and their answers get back [MCP25-03 MCP25-64 MCP26-03 MCP26-51 ACP-01]', async () => {
      const { begin, asked, accept, words, fixture } = await open(revision);
      const run = await begin('book');
      const [row] = await asked();
      expect(row?.definition).toMatchObject({
        mode: 'form',
        title: 'Front Desk asks',
        message: 'Which city?',
        context: { trigger: 'mcp_elicitation', toolId: 'desk', toolName: 'Front Desk', agent: 'Helper' },
        requestedSchema: {
          properties: { city: { pattern: '^[A-Z]', description: 'For example: Bern' } },
        },
      });
      await expect(accept(row, { city: 'bern' })).rejects.toMatchObject({ code: 'invalid_answer' });
      await accept(row, { city: 'Bern' });
      expect(await words(run)).toContain('"city":"Bern"');
      expect(fixture.effects).toHaveLength(1);
    });

    it('name the server also when their words imitate those of Parley', async () => {
      const { begin, asked, accept, words } = await open(revision);
      const run = await begin('imitate');
      const [row] = await asked();
      expect(row?.definition).toMatchObject({
        title: 'Front Desk asks',
        message: IMITATION.message,
        context: { trigger: 'mcp_elicitation', toolId: 'desk', toolName: 'Front Desk', agent: 'Helper' },
      });
      expect(row?.definition).not.toHaveProperty('description');
      await accept(row, { code: '1' });
      expect(await words(run)).toContain('imitate');
    });

    it('are asked one after the other', async () => {
      const { begin, asked, accept, words, open: listed } = await open(revision);
      const run = await begin('many {"count":3}');
      for (const at of [0, 1, 2]) {
        const [row] = await asked();
        expect(row?.definition.message).toBe(`City ${at}?`);
        await accept(row, { city: 'Bern' });
        await waitUntil(async () => (await listed())[0]?.id !== row?.id, { what: 'the answer' });
      }
      expect(await words(run)).toContain('many');
    });

    it.each(['decline', 'cancel'] as const)('are told apart when answered with %s', async (action) => {
      const { begin, asked, answer, words } = await open(revision);
      const run = await begin('book');
      const [row] = await asked();
      await answer(row?.id, action);
      expect(await words(run)).toContain(`{"action":"${action}"`);
    });

    it('that expire are answered with cancel [MCP25-31 MCP26-21]', async () => {
      const {
        begin,
        words,
        engine,
        conversation: owner,
      } = await open(revision, { limits: ', questionTimeoutSeconds: 1' });
      const run = await begin('book');
      const listed = async () => (await engine.list({ owner, limit: 10 })).rows[0];
      const { id } = await waitUntil(listed, { what: 'the question' });
      await waitUntil(async () => (await engine.expire(id)).type !== 'early', { what: 'the deadline' });
      expect(await words(run)).toContain('{"action":"cancel"');
    });

    it('for a password are refused, and nobody is asked [MCP25-01 MCP26-01]', async () => {
      const { begin, words, open: listed } = await open(revision);
      const run = await begin('secret');
      expect(await words(run)).toMatch(/asks for a secret/);
      expect(await listed()).toEqual([]);
    });

    it('that never end are ended [MCP25-48]', async () => {
      const { begin, asked, accept, words } = await open(revision, { limits: ', questionsPerCall: 2' });
      const run = await begin('flood');
      for (const _ of [0, 1]) {
        const [row] = await asked();
        await accept(row, { city: 'Bern' });
      }
      expect(await words(run)).toMatch(/too many questions/);
    });

    it.each([
      ['where the client shows none', { form: false, url: false }, ''],
      ['where nobody attends', { form: true, url: true, unattended: true as const }, ''],
      ['where the configuration says so', { form: true, url: true }, ', elicitation: false'],
    ])('are not declared %s', async (_name, support, config) => {
      const { begin, words, fixture } = await open(revision, { config });
      const run = await begin('capabilities', { support });
      // Tasks are declared to every server of 2026-07-28: they are nothing that a person is asked.
      const declared = await words(run);
      expect(declared).toMatch(/^(\{.*\}|null)$/);
      for (const kind of ['elicitation', 'sampling', 'roots']) expect(declared).not.toContain(kind);
      expect(fixture.effects).toEqual([]);
    });

    it('are withdrawn when the turn is stopped, and the call is not carried out', async () => {
      const { begin, asked, fixture, pod, conversation } = await open(revision);
      await begin('book');
      await asked();
      await pod.turns.stop(conversation);
      await asked(0);
      expect(fixture.effects).toEqual([]);
    });
  });

  it.each(['secret', 'deep'])('that are refused (%s) count too, and end the call', async (what) => {
    const { begin, words, open: listed } = await open('old', { limits: ', questionsPerCall: 2' });
    const run = await begin(`insist {"what":"${what}"}`);
    expect(await words(run)).toMatch(/too many questions/);
    expect(await listed()).toEqual([]);
  });

  it.each(REVISIONS)('of a run of one call reach its person too: %s', async (revision) => {
    const { asked, accept, words, fixture, pod, conversation } = await open(revision);
    const run = await pod.turns.beginCall({
      conversation,
      target: { server: 'desk', tool: 'book' },
      arguments: {},
      support: { form: true, url: true },
    });
    const [row] = await asked();
    expect(row?.definition.context).toMatchObject({ trigger: 'mcp_elicitation', toolName: 'Front Desk' });
    await accept(row, { city: 'Bern' });
    await words(run);
    expect(fixture.effects).toHaveLength(1);
  });

  it('of mode url are answered when the person agrees to open the page', async () => {
    const { begin, asked, accept, words, fixture } = await open('old');
    const run = await begin('visit');
    const [row] = await asked();
    expect(row?.definition).toMatchObject({
      mode: 'url',
      url: 'https://a.example/p',
      completion: 'client',
    });
    await accept(row);
    expect(await words(run)).toBe('visit {"action":"accept"}');
    expect(fixture.effects).toHaveLength(1);
  });

  it('of mode url that the server repeats ask whether the person has finished [MCP26-19 MCP26-20]', async () => {
    const { begin, asked, accept, words, fixture, asksWhetherFinished } = await open('new');
    const run = await begin('visit');
    const [page] = await asked();
    expect(page?.definition).toMatchObject({ mode: 'url', url: 'https://a.example/p' });
    await accept(page);
    const row = await asksWhetherFinished();
    expect(row.definition.message).toContain('finished at a.example');
    await fixture.visit('p1', false);
    await accept(row, {});
    expect(await words(run)).toContain('visit');
    expect(fixture.calls.get('visit')).toBe(3);
  });

  it('of -32042 are all asked, and the call is repeated once when the server reports the pages [MCP25-24]', async () => {
    const { begin, asked, accept, words, fixture, asksWhetherFinished } = await open('old');
    const run = await begin('pages');
    for (const row of await asked(2)) await accept(row);
    const row = await asksWhetherFinished();
    expect(row.definition.message).toContain('a.example');
    await fixture.visit('p1');
    await fixture.visit('p2');
    expect(await words(run)).toContain('pages');
    expect(fixture.calls.get('pages')).toBe(2);
  });

  it('of -32042 let the person continue where the server reports nothing [MCP25-25]', async () => {
    const { begin, asked, accept, words, fixture, asksWhetherFinished } = await open('old');
    const run = await begin('pages');
    for (const row of await asked(2)) await accept(row);
    await fixture.visit('p1', false);
    await fixture.visit('p2', false);
    const row = await asksWhetherFinished();
    await accept(row, {});
    expect(await words(run)).toContain('pages');
  });

  it('of -32042 that nobody reports or can be asked about end in one more attempt after the time for an answer', async () => {
    const { begin, asked, accept, words, fixture } = await open('old', {
      limits: ', questionTimeoutSeconds: 10',
    });
    const run = await begin('pages', { support: { form: false, url: true } });
    for (const row of await asked(2)) await accept(row);
    await fixture.visit('p1', false);
    await fixture.visit('p2', false);
    expect(await words(run)).toContain('pages');
    expect(fixture.calls.get('pages')).toBe(2);
  });

  it('of -32042 that are declined end the call without another attempt', async () => {
    const { begin, asked, answer, words, fixture, open: listed } = await open('old');
    const run = await begin('pages');
    const [row] = await asked(2);
    await answer(row?.id, 'decline');
    expect(await words(run)).toMatch(/needs the user to open a page.*not made/);
    expect(fixture.calls.get('pages')).toBe(1);
    expect(await listed()).toEqual([]);
  });

  it('in rounds are answered by another request, with the state only where there was one [MRTR-22 MRTR-23 T26-09]', async () => {
    for (const [tool, hasState] of [
      ['both', false],
      ['book', true],
    ] as const) {
      const { begin, asked, accept, words, server } = await open('new');
      const run = await begin(tool);
      for (const row of await asked(tool === 'both' ? 2 : 1)) await accept(row, { city: 'Bern' });
      await words(run);
      const calls = server.seen.filter((one) => one.tool === tool);
      expect(calls.map((one) => one.hasState)).toEqual([false, hasState]);
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
      expect(server.seen.filter(({ method, rpc }) => method === 'POST' && rpc === undefined)).toEqual([]);
    }
  });

  it.each([
    ['push', '', 'legacy'],
    ['push', `, ${NEWER}`, undefined],
    ['rounds', '', 'legacy'],
    ['rounds', `, ${NEWER}`, 'modern'],
  ])(
    'by `%s` of a server of both revisions%s reach the person, or the error names the setting',
    async (tool, config, era) => {
      const { begin, asked, accept, words } = await open('both', {
        config,
        make: createRevisionServers().typescript,
      });
      const run = await begin(tool);
      if (era !== undefined) await accept((await asked())[0], { city: 'Bern' });
      const said = era === undefined ? 'mcpServers.desk.protocol' : `${era} {"action":"accept"`;
      expect(await words(run)).toContain(said);
    },
  );

  it('that only ask for another attempt get it after a pause [MRTR-20]', async () => {
    const { begin, words, fixture } = await open('new');
    expect(await words(await begin('poll'))).toBe('poll "2"');
    expect(fixture.calls.get('poll')).toBe(3);
  });

  // The second: as of a pod that called all servers in the newer revision, continued by one that would not.
  it.each<[Offered, string]>([
    ['new', ''],
    ['both', `, ${NEWER}`],
  ])(
    'in rounds let the turn leave its pod, and another pod makes the call with the answers [MRTR-19 MRTR-21]',
    async (revision, config) => {
      const { begin, asked, accept, words, fixture, server, pod, conversation, engine, record, standing } =
        await open(revision, { config });
      const run = await begin('book', { delivery: 'detach' });
      const [row] = await asked();
      await waitUntil(async () => (await standing(run))?.owner === DETACHED, { what: 'the detachment' });
      expect(JSON.stringify(await record(run))).not.toContain('booking');
      await pod.close();
      join(server.url, { on: 'second' });
      await accept(row, { city: 'Bern' });
      expect(await words(run)).toBe('book [{"action":"accept","content":{"city":"Bern"}},"booking"]');
      expect(fixture.calls.get('book')).toBe(2);
      expect(fixture.effects).toHaveLength(1);
      expect((await engine.list({ owner: conversation, limit: 10 })).rows).toHaveLength(1);
    },
  );
});
