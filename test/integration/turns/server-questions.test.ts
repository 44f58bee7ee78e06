import { randomBytes } from 'node:crypto';
import type { Row } from '@parley/shared/domain/elicitations/row';
import { type ConversationRef, DETACHED, type RunRef, type Support } from '@parley/shared/domain/runs/run';
import { parseVaultKeys } from '@parley/shared/vault/key-ring';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { readAgentsConfig } from '../../../services/api/src/agents/config/load.ts';
import { createAgents } from '../../../services/api/src/agents/loop/agents.ts';
import { silentTurnObserver } from '../../../services/api/src/agents/loop/observer.ts';
import { createMcpTools } from '../../../services/api/src/agents/mcp/calls/mcp-tools.ts';
import { createMcpOffering } from '../../../services/api/src/agents/tools/mcp-offer.ts';
import { createNamedTools } from '../../../services/api/src/agents/tools/named-tools.ts';
import { createRoundSeals } from '../../../services/api/src/agents/tools/passthrough/rounds.ts';
import { createToolbox } from '../../../services/api/src/agents/tools/toolbox.ts';
import { createTurns } from '../../../services/api/src/turns/turns.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import type { Pods } from '../../harness/engines/pods.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { openRedisPods } from '../../harness/engines/redis-pods.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { createAskingFixture, IMITATION } from '../../harness/mcp-servers/asking.ts';
import { type Revision, startMcpServer } from '../../harness/mcp-servers/mcp-servers.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { findRedis } from '../../harness/redis/find-redis.ts';
import { listOpen, readEvents, saying, talk } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const SUITE = 'the questions of an MCP server';
const REVISIONS: readonly Revision[] = ['old', 'new'];
const { keys: KEYS } = parseVaultKeys([`one:${randomBytes(32).toString('base64')}`]);
const NO_CREDENTIALS = {
  present: async () => ({ type: 'absent' }) as const,
  refused: async () => undefined,
  promote: async () => undefined,
  completeOpen: async () => undefined,
};

/** "<tool> <json>" calls that tool of the server; then the model repeats what the tool said. */
let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({
    script: [
      ({ userText, results }) => {
        if (results.length > 0) return { text: results.map(({ text }) => text).join(' & ') };
        const [, name = '', json = '{}'] = /^(\S+) ?(.*)$/.exec(userText) ?? [];
        return { calls: [{ name: `desk__${name}`, arguments: JSON.parse(json || '{}') }] };
      },
    ],
  });
});
afterAll(() => model.stop());

const found = await findRedis();
if ('notRun' in found) suiteNotRun(SUITE, found.notRun);
else
  describe(SUITE, () => {
    let pods: Pods;
    beforeAll(async () => {
      pods = await openRedisPods({ kind: 'single', url: found.url }, ROOMY);
    });
    afterAll(async () => {
      await pods.close();
      await found.stop();
    });

    /** One pod whose agent uses the server at `url`. */
    function join(
      url: string,
      { on = 'backend', config = '', limits = '', hasKeys = true }: PodOptions = {},
    ) {
      const backend = pods[on];
      const loaded = readAgentsConfig(
        `models:
  scripted: { provider: openai-compatible, baseUrl: "${model.url}", model: scripted }
agents:
  helper: { title: Helper, model: scripted, instructions: Be brief., tools: [{ server: desk }], limits: { toolTimeoutSeconds: 60${limits} } }
mcpServers:
  desk: { title: Front Desk, transport: http, url: "${url}", credentialScope: none${config} }
mcpOffer: { tools: [{ server: desk }] }
`,
        'agents.yaml',
        {},
      );
      const engine = engineOn(backend);
      const mcp = createMcpTools({ clientInfo: { name: 'parley', version: '0' } });
      const rounds = hasKeys && KEYS !== undefined ? createRoundSeals(KEYS) : undefined;
      const deps = { loaded, mcp, credentials: NO_CREDENTIALS, rounds, onServerFailure: () => undefined };
      const named = createNamedTools(deps);
      const toolsOf = createToolbox(deps);
      const faults: unknown[] = [];
      const turns = createTurns({
        ...backend,
        engine,
        delegates: 'same-pod',
        hasAnswerPage: false,
        holdMs: 300_000,
        leaseTiming: { renewMs: 50, leaseMs: 2_000 },
        observer: silentTurnObserver,
        agents: createAgents({ loaded, toolsOf, named }),
        offering: createMcpOffering({ config: loaded.config, named }),
        pod: `${on} of ${url}`,
        onFault: (error) => faults.push(error),
      });
      const close = async () => {
        await turns.close();
        await mcp.close();
      };
      onTestFinished(close);
      return { engine, turns, close, faults };
    }
    type PodOptions = {
      on?: 'backend' | 'second';
      config?: string;
      limits?: string;
      hasKeys?: boolean;
    };

    /** A server, and a pod that uses it. */
    async function open(revision: Revision, options: PodOptions = {}) {
      const fixture = createAskingFixture();
      const server = await startMcpServer({ revision, fixture });
      onTestFinished(server.kill);
      const conversation = talk();
      const pod = join(server.url, options);
      return {
        fixture,
        server,
        pod,
        conversation,
        begin: (text: string, more: { support?: Support; delivery?: 'detach' } = {}) =>
          pod.turns.begin({ ...saying(conversation, text), ...more }),
        asked: (count = 1) => questionsOf(pod, conversation, count),
      };
    }

    const questionsOf = (
      { engine }: Pick<ReturnType<typeof join>, 'engine'>,
      conversation: ConversationRef,
      count: number,
    ) =>
      waitUntil(
        async () => {
          const rows = await listOpen(engine, conversation);
          return rows.length >= count && rows;
        },
        { what: `${count} questions`, timeoutMs: 10_000 },
      );

    /** What the model was given, once the turn is over. */
    async function words(run: RunRef): Promise<string> {
      await waitUntil(async () => (await pods.second.runs.read(run)).run?.status === 'finished', {
        what: 'the end of the turn',
        timeoutMs: 20_000,
      });
      const events = await readEvents(pods.second, run);
      return events.map((event) => ('text' in event ? event.text : '')).join('');
    }

    const accept = (pod: Pick<ReturnType<typeof join>, 'engine'>, row: Row | undefined, content?: object) =>
      answerQuestion(pod.engine, row?.definition as never, row?.id ?? '', 'accept', content as never);

    describe.each(REVISIONS)('of the %s revision', (revision) => {
      it('become elicitations that name the server, and their answers get back [MCP25-03 MCP25-64 MCP26-03 MCP26-51 ACP-01]', async () => {
        const { begin, asked, pod, fixture } = await open(revision);
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
        await expect(accept(pod, row, { city: 'bern' })).rejects.toMatchObject({ code: 'invalid_answer' });
        await accept(pod, row, { city: 'Bern' });
        expect(await words(run)).toContain('"city":"Bern"');
        expect(fixture.effects).toHaveLength(1);
      });

      it('name the server also when their words imitate those of Parley', async () => {
        const { begin, asked, pod } = await open(revision);
        const run = await begin('imitate');
        const [row] = await asked();
        expect(row?.definition).toMatchObject({
          title: 'Front Desk asks',
          message: IMITATION.message,
          context: { trigger: 'mcp_elicitation', toolId: 'desk', toolName: 'Front Desk', agent: 'Helper' },
        });
        expect(row?.definition).not.toHaveProperty('description');
        await accept(pod, row, { code: '1' });
        expect(await words(run)).toContain('imitate');
      });

      it('are asked together, and answered one by one', async () => {
        const { begin, asked, pod, fixture } = await open(revision);
        const run = await begin('both');
        for (const row of await asked(2)) await accept(pod, row, { city: 'Bern' });
        expect(await words(run)).toContain('both');
        expect(fixture.effects).toHaveLength(1);
      });

      it('are asked one after the other', async () => {
        const { begin, asked, pod } = await open(revision);
        const run = await begin('many {"count":3}');
        for (const at of [0, 1, 2]) {
          const [row] = await asked();
          expect(row?.definition.message).toBe(`City ${at}?`);
          await accept(pod, row, { city: 'Bern' });
          await waitUntil(
            async () =>
              (
                await pod.engine.read(
                  { kind: 'service', tenant: row?.definition.tenant ?? '' },
                  row?.id ?? '',
                )
              ).row.status === 'accepted',
            { what: 'the answer' },
          );
        }
        expect(await words(run)).toContain('many');
      });

      it.each(['decline', 'cancel'] as const)('are told apart when answered with %s', async (action) => {
        const { begin, asked, pod } = await open(revision);
        const run = await begin('book');
        const [row] = await asked();
        await answerQuestion(pod.engine, row?.definition as never, row?.id ?? '', action);
        expect(await words(run)).toContain(`{"action":"${action}"`);
      });

      it('that expire are answered with cancel [MCP25-31 MCP26-21]', async () => {
        const { begin, asked, pod } = await open(revision, { limits: ', questionTimeoutSeconds: 1' });
        const run = await begin('book');
        const [row] = await asked();
        await waitUntil(
          async () => {
            await pod.engine.expire(row?.id ?? '');
            return (await listOpen(pod.engine, row?.definition as never)).length === 0;
          },
          { what: 'the deadline' },
        );
        expect(await words(run)).toContain('{"action":"cancel"');
      });

      it('for a password are refused, and nobody is asked [MCP25-01 MCP26-01]', async () => {
        const { begin, pod, conversation } = await open(revision);
        const run = await begin('secret');
        expect(await words(run)).toMatch(/asks for a secret/);
        expect(await listOpen(pod.engine, conversation)).toEqual([]);
      });

      it('with a deep schema are refused, and nobody is asked', async () => {
        const { begin, pod, conversation } = await open(revision);
        expect(await words(await begin('deep'))).toMatch(/must be flat/);
        expect(await listOpen(pod.engine, conversation)).toEqual([]);
      });

      it('that never end are ended [MCP25-48]', async () => {
        const { begin, asked, pod } = await open(revision, { limits: ', questionsPerCall: 2' });
        const run = await begin('flood');
        for (const _ of [0, 1]) {
          const [row] = await asked();
          await accept(pod, row, { city: 'Bern' });
        }
        expect(await words(run)).toMatch(/too many questions/);
      });

      it.each([
        ['where the client shows none', { form: false, url: false }, ''],
        ['where nobody attends', { form: true, url: true, unattended: true as const }, ''],
        ['where the configuration says so', { form: true, url: true }, ', elicitation: false'],
      ])('are not declared %s', async (_name, support, config) => {
        const { begin, fixture } = await open(revision, { config });
        const run = await begin('capabilities', { support });
        expect(await words(run)).toMatch(/^(\{\}|null)$/);
        expect(fixture.effects).toEqual([]);
      });

      it('are withdrawn when the turn is stopped, and the call is not carried out', async () => {
        const { begin, asked, pod, conversation, fixture } = await open(revision);
        await begin('book');
        await asked();
        await pod.turns.stop(conversation);
        await waitUntil(async () => (await listOpen(pod.engine, conversation)).length === 0, {
          what: 'the question to be withdrawn',
        });
        expect(fixture.effects).toEqual([]);
      });
    });

    it.each(REVISIONS)('of a run of one call reach its person too: %s', async (revision) => {
      const { asked, pod, conversation, fixture } = await open(revision);
      const run = await pod.turns.beginCall({
        conversation,
        target: { server: 'desk', tool: 'book' },
        arguments: {},
        support: { form: true, url: true },
      });
      const [row] = await asked();
      expect(row?.definition.context).toMatchObject({ trigger: 'mcp_elicitation', toolName: 'Front Desk' });
      await accept(pod, row, { city: 'Bern' });
      await words(run);
      expect(fixture.effects).toHaveLength(1);
    });

    it('of mode url are answered when the person agrees to open the page', async () => {
      const { begin, asked, pod, fixture } = await open('old');
      const run = await begin('visit');
      const [row] = await asked();
      expect(row?.definition).toMatchObject({
        mode: 'url',
        url: 'https://a.example/p',
        completion: 'client',
      });
      await accept(pod, row);
      expect(await words(run)).toBe('visit {"action":"accept"}');
      expect(fixture.effects).toHaveLength(1);
    });

    it('of mode url that the server repeats ask whether the person has finished [MCP26-19 MCP26-20]', async () => {
      const { begin, asked, pod, fixture } = await open('new');
      const run = await begin('visit');
      const [page] = await asked();
      expect(page?.definition).toMatchObject({ mode: 'url', url: 'https://a.example/p' });
      await accept(pod, page);
      const [row] = await waitUntil(
        async () => {
          const now = await asked();
          return now[0]?.definition.mode === 'form' && now;
        },
        { what: 'the question whether the person has finished' },
      );
      expect(row?.definition.message).toContain('finished at a.example');
      await fixture.visit('p1', false);
      await accept(pod, row, {});
      expect(await words(run)).toContain('visit');
      expect(fixture.calls.get('visit')).toBe(3);
    });

    it('that the server takes back are withdrawn', async () => {
      const { begin, asked, pod, conversation, fixture } = await open('old');
      const run = await begin('impatient');
      const [row] = await asked();
      fixture.giveUp();
      await words(run);
      const { rows } = await pod.engine.list({ owner: conversation, limit: 10 });
      expect(rows).toMatchObject([
        { id: row?.id, status: 'withdrawn', settlement: { reason: 'withdrawn_by_asker' } },
      ]);
    });

    it('of -32042 are all asked, and the call is repeated once when the server reports the pages [MCP25-24]', async () => {
      const { begin, asked, pod, fixture } = await open('old');
      const run = await begin('pages');
      for (const row of await asked(2)) await accept(pod, row);
      const rows = await waitUntil(
        async () => {
          const now = await asked();
          return now.length === 1 && now[0]?.definition.mode === 'form' && now;
        },
        { what: 'the question whether the person has finished' },
      );
      expect(rows[0]?.definition.message).toContain('a.example');
      await fixture.visit('p1');
      await fixture.visit('p2');
      expect(await words(run)).toContain('pages');
      expect(fixture.calls.get('pages')).toBe(2);
    });

    it('of -32042 let the person continue where the server reports nothing [MCP25-25]', async () => {
      const { begin, asked, pod, fixture } = await open('old');
      const run = await begin('pages');
      for (const row of await asked(2)) await accept(pod, row);
      await fixture.visit('p1', false);
      await fixture.visit('p2', false);
      const [row] = await waitUntil(
        async () => {
          const now = await asked();
          return now.length === 1 && now[0]?.definition.mode === 'form' && now;
        },
        { what: 'the question whether the person has finished' },
      );
      await accept(pod, row, {});
      expect(await words(run)).toContain('pages');
    });

    it('of -32042 that nobody reports or can be asked about end in one more attempt after the time for an answer', async () => {
      const { begin, asked, pod, fixture } = await open('old', { limits: ', questionTimeoutSeconds: 2' });
      const run = await begin('pages', { support: { form: false, url: true } });
      for (const row of await asked(2)) await accept(pod, row);
      await fixture.visit('p1', false);
      await fixture.visit('p2', false);
      expect(await words(run)).toContain('pages');
      expect(fixture.calls.get('pages')).toBe(2);
    });

    it('of -32042 that are declined end the call without another attempt', async () => {
      const { begin, asked, pod, fixture, conversation } = await open('old');
      const run = await begin('pages');
      const [row] = await asked(2);
      await answerQuestion(pod.engine, row?.definition as never, row?.id ?? '', 'decline');
      expect(await words(run)).toMatch(/needs the user to open a page.*not made/);
      expect(fixture.calls.get('pages')).toBe(1);
      expect(await listOpen(pod.engine, conversation)).toEqual([]);
    });

    it('in rounds are answered by another request, with the state only where there was one [MRTR-22 MRTR-23 T26-09]', async () => {
      for (const [tool, hasState] of [
        ['both', false],
        ['book', true],
      ] as const) {
        const { begin, asked, pod, server } = await open('new');
        const run = await begin(tool);
        for (const row of await asked(tool === 'both' ? 2 : 1)) await accept(pod, row, { city: 'Bern' });
        await words(run);
        const calls = server.seen.filter((one) => one.tool === tool);
        expect(calls.map((one) => one.hasState)).toEqual([false, hasState]);
        expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
        expect(server.seen.filter(({ method, rpc }) => method === 'POST' && rpc === undefined)).toEqual([]);
      }
    });

    it('that only ask for another attempt get it after a pause [MRTR-20]', async () => {
      const { begin, fixture } = await open('new');
      expect(await words(await begin('poll'))).toBe('poll "2"');
      expect(fixture.calls.get('poll')).toBe(3);
    });

    it('in rounds let the turn leave its pod, and another pod makes the call with the answers [MRTR-19 MRTR-21]', async () => {
      const { begin, asked, pod, fixture, server, conversation } = await open('new');
      const run = await begin('book', { delivery: 'detach' });
      const [row] = await asked();
      await waitUntil(async () => (await pods.second.runs.standing(run))?.owner === DETACHED, {
        what: 'the turn to be detached',
      });
      const { run: record } = await pods.second.runs.read(run);
      expect(JSON.stringify(record)).not.toContain('booking');
      await pod.close();
      const second = join(server.url, { on: 'second' });
      await accept(second, row, { city: 'Bern' });
      expect(await words(run)).toBe('book [{"action":"accept","content":{"city":"Bern"}},"booking"]');
      expect(fixture.calls.get('book')).toBe(2);
      expect(fixture.effects).toHaveLength(1);
      expect((await second.engine.list({ owner: conversation, limit: 10 })).rows).toHaveLength(1);
    });
  });
