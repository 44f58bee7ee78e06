import { DETACHED, type RunRef, type Support } from '@parley/shared/domain/runs/run';
import { turnEventOf } from '@parley/shared/domain/runs/turn-events';
import { createClientRequests } from '@parley/shared/elicitations/asking/client-requests';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRoundSeals } from '../../../services/api/src/agents/tools/passthrough/rounds.ts';
import { describeOnRedis } from '../../harness/engines/describe-on-redis.ts';
import { dispatchOn, engineOn } from '../../harness/engines/engines.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { sampling } from '../../harness/mcp-servers/requesting.ts';
import {
  asking,
  cityRequest,
  completed,
  pageRequest,
  startTaskingServer,
  type TaskingOptions,
} from '../../harness/mcp-servers/tasking.ts';
import { startConfiguredPod, startPersonalPod } from '../../harness/turns/configured.ts';
import { modelOf, TIMING, worldOn } from '../../harness/turns/site.ts';
import { newKeys } from '../../harness/vault/stores.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const KEYS = newKeys();

const THEME = 'Autumn';

/** The model calls the tool that the person names, and repeats what the tool said. For a server it writes of the theme. */
const model = modelOf(({ userText, results }) => {
  if (userText === THEME) return { text: `Verses on ${THEME}` };
  return results.length > 0
    ? { text: results.map(({ text }) => text).join(' & ') }
    : { calls: [{ name: userText.includes('__') ? userText : `desk__${userText}`, arguments: {} }] };
});

await describeOnRedis('a task that a server makes of a call', (pods) => {
  interface OpenOptions extends TaskingOptions {
    readonly config?: string;
    readonly limits?: string;
  }

  async function open({ config = '', limits = '', ...options }: OpenOptions = {}) {
    const server = await startTaskingServer(options);
    onTestFinished(server.kill);
    const world = worldOn(model, {}, pods.backend, pods.second);
    const join = (on: 'backend' | 'second') =>
      startConfiguredPod({
        yaml: `models:
  scripted: { provider: openai-compatible, baseUrl: "${model.current.url}", model: scripted }
agents:
  helper: { title: Helper, model: scripted, instructions: Be brief., tools: [{ server: desk }], limits: { ${limits} } }
mcpServers:
  desk: { title: Front Desk, transport: http, url: "${server.url}", credentialScope: none${config} }
`,
        backend: pods[on],
        engine: engineOn(pods[on]),
        rounds: createRoundSeals(KEYS),
        leaseTiming: TIMING,
        pod: `${on} of ${server.url}`,
      });
    const pod = join('backend');
    const dispatch = dispatchOn(pods.second);
    return {
      ...world,
      server,
      pod,
      join,
      begin: (text: string, more: { support?: Support; delivery?: 'detach' } = {}) =>
        pod.turns.begin({ ...world.saying(text), ...more }),
      /** The task of the first call, once it was read so often. */
      task: (reads = 0) =>
        waitUntil(() => server.tasks.find((one) => one.reads >= reads), { what: `${reads} reads of a task` }),
      accept: (id: string | undefined, city: string) =>
        answerQuestion(world.engine, world.conversation, id ?? '', 'accept', { city } as never),
      isDetached: (run: RunRef) =>
        waitUntil(async () => (await world.standing(run))?.owner === DETACHED, { what: 'no owner' }),
      /** Does what the worker does each second, until that is so. */
      until: (what: string, isSo: () => unknown) =>
        waitUntil(
          async () => {
            await dispatch.round();
            return isSo();
          },
          { what },
        ),
      async words(run: RunRef): Promise<string> {
        expect(await world.ended(run)).toBe('finished');
        expect(await world.open()).toEqual([]);
        return world.text(run);
      },
    };
  }

  it('is read until it ends, and its questions become those of the turn, each asked once', async () => {
    const { begin, asked, accept, words, server, task } = await open();
    const run = await begin('book');
    const [row] = await asked();
    expect(row?.definition).toMatchObject({ title: 'Front Desk asks', message: 'Which city?' });
    const { reads, taskId } = await task();
    await task(reads + 3);
    expect(await asked()).toHaveLength(1);
    await accept(row?.id, 'Bern');
    expect(await words(run)).toContain('booked {"action":"accept","content":{"city":"Bern"}}');
    const extensions = { 'io.modelcontextprotocol/tasks': {} };
    expect(server.declared).toMatchObject({ elicitation: { form: {}, url: {} }, extensions });
    expect(server.tasks).toMatchObject([{ updates: [{ city: expect.anything() }], isCancelled: false }]);
    expect(server.headers).toMatchObject({ 'mcp-name': taskId, 'mcp-method': 'tasks/get' });
  });

  it.each<[string, object | undefined, RegExp]>([
    ['fails', { status: 'failed', error: { code: -32_603, message: 'No rooms.' } }, /refused: No rooms\./],
    [
      'completes with an error',
      { status: 'completed', result: { isError: true, content: [] } },
      /reported an error/,
    ],
    [
      'is cancelled',
      { status: 'cancelled', statusMessage: 'Closed.' },
      /cancelled its task\. It said: Closed\./,
    ],
    [
      'is forgotten',
      undefined,
      /outcome of the call of Front Desk is lost.*may or may not have had its effect/,
    ],
  ])('that %s ends the call with these words', async (_, state, said) => {
    const { begin, words, task } = await open();
    const run = await begin('manual');
    (await task(1)).state = state as never;
    expect(await words(run)).toMatch(said);
    expect((await task()).isCancelled).toBe(false);
  });

  it('asks for all at once, and gets each answer as it comes', async () => {
    const { begin, asked, accept, words, task, engine, conversation } = await open();
    const run = await begin('manual');
    const made = await task(1);
    made.state = asking({ city: cityRequest(), page: pageRequest });
    const rows = await asked(2);
    const [form, page] = ['form', 'url'].map((mode) => rows.find((row) => row.definition.mode === mode));
    expect(page?.definition).toMatchObject({ url: pageRequest.params.url, message: 'Sign.' });
    await answerQuestion(engine, conversation, page?.id ?? '', 'accept');
    await waitUntil(() => made.updates.length === 1, { what: 'the first answer' });
    await accept(form?.id, 'Bern');
    await waitUntil(() => made.updates.length === 2, { what: 'the second answer' });
    made.state = completed('done');
    expect(await words(run)).toContain('done');
    expect(made.updates).toEqual([
      { page: { action: 'accept' } },
      { city: { action: 'accept', content: { city: 'Bern' } } },
    ]);
  });

  it.each([
    ['the model of its agent', undefined],
    ['the client of the turn', { sampling: { tools: false } }],
  ])('gets the text that it asks for from %s', async (_, services) => {
    const { begin, words, task, server, engine, conversation, events } = await open({
      config: ', sampling: true',
    });
    const run = await begin('manual', { support: { form: true, url: true, ...(services && { services }) } });
    const made = await task(1);
    expect(server.declared).toHaveProperty('sampling');
    made.state = asking({ text: sampling(THEME) });
    const { tenant, userId } = conversation;
    if (services === undefined) {
      const approval = await waitUntil(
        async () =>
          (await engine.approvals.list({ owner: { tenant, userId }, limit: 5 })).rows.find(
            ({ status }) => status === 'pending',
          ),
        { what: 'the approval' },
      );
      const caller = { kind: 'user', tenant, userId } as const;
      const response = { decision: 'approve' } as const;
      await engine.approvals.decide({ caller, id: approval.id, response, surface: 'chat' });
    } else {
      const requestId = await waitUntil(
        async () =>
          (await events(run))
            .map(turnEventOf)
            .flatMap((event) => (event?.type === 'client-asked' ? [event.requestId] : []))[0],
        { what: 'the request' },
      );
      const content = { type: 'text', text: `Verses on ${THEME}` };
      const result = { role: 'assistant', content, model: 'client' };
      await createClientRequests(pods.second).answer(conversation, requestId, { result });
    }
    await waitUntil(() => made.updates.length === 1, { what: 'the text' });
    made.state = completed('done');
    expect(await words(run)).toContain('done');
    expect(made.updates).toEqual([
      {
        text: expect.objectContaining({
          content: { type: 'text', text: `Verses on ${THEME}` },
          model: services === undefined ? 'Helper' : 'client',
        }),
      },
    ]);
  });

  it('ends its call where the credential may not answer it', async () => {
    const refuses = (method: string) => (method === 'tasks/update' ? 403 : undefined);
    const { begin, asked, accept, words } = await open({ refuses, config: ', taskTimeoutSeconds: 30' });
    const run = await begin('book');
    await accept((await asked())[0]?.id, 'Bern');
    expect(await words(run)).toContain('lacks a permission');
  });

  it('takes a question back that the server does not ask any more, and asks another', async () => {
    const { begin, asked, accept, words, task, open: listed } = await open();
    const run = await begin('manual');
    const made = await task(1);
    made.state = asking({ one: cityRequest('One?') });
    const [first] = await asked();
    made.state = { status: 'working' };
    await waitUntil(async () => (await listed()).length === 0, { what: 'the question to be withdrawn' });
    made.state = asking({ two: cityRequest('Two?') });
    const [second] = await asked();
    expect(second?.definition.message).toBe('Two?');
    await expect(accept(first?.id, 'Bern')).rejects.toMatchObject({ code: 'already_settled' });
    await accept(second?.id, 'Rome');
    await waitUntil(() => made.updates.length === 1, { what: 'the answer' });
    made.state = completed('done');
    expect(await words(run)).toContain('done');
    expect(made.updates).toEqual([{ two: { action: 'accept', content: { city: 'Rome' } } }]);
  });

  it('is cancelled when its turn is stopped, and its questions are withdrawn', async () => {
    const { begin, asked, pod, ended, task, open: listed } = await open();
    const run = await begin('book');
    await asked();
    await pod.turns.stop(run);
    expect(await ended(run)).toBe('stopped');
    expect((await task()).isCancelled).toBe(true);
    expect(await listed()).toEqual([]);
  });

  it('is cancelled when its time is over', async () => {
    const { begin, words, task } = await open({ config: ', taskTimeoutSeconds: 1' });
    expect(await words(await begin('manual'))).toMatch(/did not answer in time, so the call may or may not/);
    expect((await task()).isCancelled).toBe(true);
  });

  it('is not asked about what the person cannot be asked, and is cancelled for it', async () => {
    const { begin, words, task } = await open();
    const run = await begin('manual', { support: { form: false, url: true } });
    (await task(1)).state = asking({ city: cityRequest() });
    expect(await words(run)).toMatch(/asks the user for something that cannot be asked/);
    expect((await task()).isCancelled).toBe(true);
  });

  it.each([
    ['tasks/get', 'goes on after its person has connected the account again'],
    ['tasks/update', 'ends its call, for the account was just connected'],
  ])('whose account is refused at %s %s', async (refused) => {
    let isRevoked = false;
    const refuses = (method: string) => (isRevoked && method === refused ? 401 : undefined);
    const server = await startTaskingServer({ refuses });
    onTestFinished(server.kill);
    const world = worldOn(model, {}, pods.backend, pods.second);
    const { turns, give } = startPersonalPod({
      yaml: `models:
  scripted: { provider: openai-compatible, baseUrl: "${model.current.url}", model: scripted }
agents:
  helper: { title: Helper, model: scripted, instructions: Be brief., tools: [{ server: tracker }] }
mcpServers:
  tracker:
    title: Tracker
    transport: http
    url: "${server.url}"
    credentialScope: user
    connector: account
    announcedTools: [{ name: book, description: Books., inputSchema: { type: object } }]
connectors:
  account: { type: api_key, title: Tracker, instructions: Look around. }
`,
      backend: pods.backend,
      engine: engineOn(pods.backend),
      rounds: createRoundSeals(KEYS),
      leaseTiming: TIMING,
    });
    const questionOf = (trigger: string) =>
      waitUntil(
        async () => (await world.asked()).find(({ definition }) => definition.context.trigger === trigger),
        { what: `the question of ${trigger}` },
      );
    const connect = async (value: string) => {
      const { id } = await questionOf('credential_required');
      await give(world.conversation, id, { kind: 'api_key', value });
    };
    const run = await turns.begin(world.saying('tracker__book'));
    await connect('first-key');
    const { id } = await questionOf('mcp_elicitation');
    isRevoked = true;
    await answerQuestion(world.engine, world.conversation, id, 'accept', { city: 'Bern' });
    if (refused === 'tasks/get') {
      await questionOf('credential_required');
      isRevoked = false;
      await connect('second-key');
    }
    expect(await world.ended(run)).toBe('finished');
    const said = refused === 'tasks/get' ? '"city":"Bern"' : 'refused the credential';
    expect(await world.text(run)).toContain(said);
    expect(server.tasks).toHaveLength(1);
    const key = refused === 'tasks/get' ? 'second-key' : 'first-key';
    expect(server.headers).toMatchObject({ authorization: expect.stringContaining(key) });
  });

  describe('of which its server tells', () => {
    /** A task whose server wants it to be read every minute, and that is listened to. */
    async function told(options: OpenOptions = {}) {
      const site = await open({ tells: true, pollIntervalMs: 60_000, ...options });
      const run = await site.begin('manual');
      const made = await site.task(1);
      await waitUntil(() => site.server.listened.includes(made.taskId), { what: 'a listener' });
      return { ...site, run, made };
    }

    it('is read when it has changed, and nobody listens to it after its end', async () => {
      const { made, asked, accept, words, run, server } = await told();
      const { reads } = made;
      made.state = asking({ city: cityRequest() });
      await accept((await asked())[0]?.id, 'Bern');
      await waitUntil(() => made.updates.length === 1, { what: 'the answer' });
      made.state = completed('done');
      expect(await words(run)).toContain('done');
      // Once for the question, once after the answer, and for the end.
      expect(made.reads).toBeLessThanOrEqual(reads + 3);
      await waitUntil(() => server.listened.length === 0, { what: 'the end of the stream' });
    });

    it('is read once its stream has broken, and listened to again later', async () => {
      const { made, words, run, server } = await told();
      server.cut();
      await waitUntil(() => made.reads > 1 && server.listened.length > 0, { what: 'a read and a listener' });
      made.state = completed('done');
      expect(await words(run)).toContain('done');
    });

    it('is read four times a second at most, however often its server says that it has changed', async () => {
      const { made, words, run, server } = await told();
      const { taskId } = made;
      const readAt: number[] = [];
      Object.defineProperty(made, 'state', {
        get() {
          readAt[made.reads] ??= performance.now();
          // About the task, and about nothing.
          for (const params of [{ taskId }, {}]) server.notify(params);
          return made.reads < 6 ? { status: 'working' } : completed('done');
        },
      });
      server.notify({ taskId });
      expect(await words(run)).toContain('done');
      expect((readAt[6] ?? 0) - (readAt[2] ?? 0)).toBeGreaterThan(3 * 250);
    });

    it.each([404, 503])('is read as ever where a listener gets %i', async (status) => {
      const refuses = (method: string) => (method === 'subscriptions/listen' ? status : undefined);
      const { begin, task, words } = await open({ tells: true, refuses });
      const run = await begin('manual');
      (await task(3)).state = completed('done');
      expect(await words(run)).toContain('done');
    });
  });

  describe('whose server is hostile', () => {
    it('asks no more than the limits say, whatever it is called', async () => {
      const { begin, words, task } = await open({ limits: 'questionsPerCall: 3' });
      const run = await begin('manual');
      const made = await task(1);
      let key = 0;
      // New keys at each read.
      Object.defineProperty(made, 'state', { get: () => asking({ [`k${key++}`]: cityRequest() }) });
      expect(await words(run)).toContain('asked the user too many questions');
      expect(made.isCancelled).toBe(true);
    });

    it.each<[string, OpenOptions, object | undefined, RegExp]>([
      [
        'an id of a megabyte',
        { created: { taskId: 'x'.repeat(1e6) } },
        undefined,
        /without an id that can be used/,
      ],
      ['a state of no known kind', {}, { status: 'paused' }, /something that is not MCP/],
      [
        'a task for a result',
        {},
        { status: 'completed', result: { resultType: 'task', taskId: 't' } },
        /is no result/,
      ],
      ['pauses of no length', { pollIntervalMs: 0 }, completed('done'), /done/],
      ['pauses of another type', { pollIntervalMs: [] }, completed('done'), /done/],
    ])('sends %s, and the call ends', async (_, options, state, said) => {
      const { begin, words, task } = await open({ ...options, isLawful: false });
      const run = await begin('manual');
      if (state !== undefined) (await task(1)).state = state as never;
      expect(await words(run)).toMatch(said);
    });

    it.each([503, 404])('fails for a while with %i, and is read again', async (status) => {
      let failures = 3;
      const refuses = (method: string) => (method === 'tasks/get' && failures-- > 0 ? status : undefined);
      const { begin, words, task } = await open({ refuses });
      const run = await begin('manual');
      (await task(1)).state = completed('done');
      expect(await words(run)).toContain('done');
    });
  });

  describe('while nobody has the turn', () => {
    it('is read from time to time, by any pod, and is made once', async () => {
      const { begin, words, task, server, isDetached, join, pod, until, events } = await open();
      const run = await begin('manual', { delivery: 'detach' });
      await isDetached(run);
      await pod.close();
      join('second');
      const made = await task();
      await until('the task to be read again', () => made.reads >= 2);
      await isDetached(run);
      made.state = completed('done');
      await until('the end', async () => (await pods.second.runs.standing(run))?.status !== 'running');
      expect(await words(run)).toContain('done');
      expect(server.tasks).toHaveLength(1);
      const rests = (await events(run)).filter(({ type }) => type === 'turn-detached');
      expect(rests).toContainEqual({ type: 'turn-detached', continues: true });
    });

    it('is read by a pod that cannot reach the server at first', async () => {
      let isAway = false;
      let refused = 0;
      const refuses = () => {
        if (isAway) refused += 1;
        return isAway ? 503 : undefined;
      };
      const { begin, words, task, server, isDetached, join, pod, until } = await open({ refuses });
      const run = await begin('manual', { delivery: 'detach' });
      await isDetached(run);
      await pod.close();
      isAway = true;
      join('second');
      await until('the server to be asked', () => refused > 0);
      await isDetached(run);
      isAway = false;
      (await task()).state = completed('done');
      await until('the end', async () => (await pods.second.runs.standing(run))?.status !== 'running');
      expect(await words(run)).toContain('done');
      expect(server.tasks).toHaveLength(1);
    });

    it('keeps its question, which ends with the answer on another pod', async () => {
      const { begin, asked, accept, words, server, isDetached, join, pod } = await open();
      const run = await begin('book', { delivery: 'detach' });
      const [row] = await asked();
      await isDetached(run);
      await pod.close();
      join('second');
      await accept(row?.id, 'Bern');
      expect(await words(run)).toContain('"city":"Bern"');
      expect(server.tasks).toHaveLength(1);
      expect(server.tasks[0]?.updates).toHaveLength(1);
    });

    it('is cancelled when the turn is stopped', async () => {
      const { begin, task, isDetached, pod, until, ended } = await open();
      const run = await begin('manual', { delivery: 'detach' });
      await isDetached(run);
      await pod.turns.stop(run);
      await until('the task to be cancelled', () => task().then(({ isCancelled }) => isCancelled));
      expect(await ended(run)).toBe('stopped');
    });
  });
});
