import { BY_MESSAGE } from '@parley/shared/domain/approvals/outcome';
import type { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import type { ConversationRef, RunRef, Support } from '@parley/shared/domain/runs/run';
import { turnEventOf } from '@parley/shared/domain/runs/turn-events';
import { createClientRequests } from '@parley/shared/elicitations/asking/client-requests';
import { type Runs, tokensOf } from '@parley/shared/ports/runs/runs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRoundSeals } from '../../../services/api/src/agents/tools/passthrough/rounds.ts';
import { describeOnRedis } from '../../harness/engines/describe-on-redis.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import type { Revision } from '../../harness/mcp-servers/mcp-servers.ts';
import { startRequestingServer, UNAWAITED } from '../../harness/mcp-servers/requesting.ts';
import { startConfiguredPod } from '../../harness/turns/configured.ts';
import { modelOf, TIMING, worldOn } from '../../harness/turns/site.ts';
import { newKeys } from '../../harness/vault/stores.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const REVISIONS: readonly Revision[] = ['old', 'new'];
const KEYS = newKeys();

/** "call <tool> <words>" calls a tool of the server, and repeats what it said. Anything else comes from a server. */
const model = modelOf(({ userText, results }) => {
  if (results.length > 0) return { text: results.map(({ text }) => text).join(' & ') };
  const [, name, message] = /^call (\S+) (.*)$/.exec(userText) ?? [];
  return name === undefined
    ? { text: `Verses on ${userText}` }
    : { calls: [{ name: `desk__${name}`, arguments: { message } }] };
});

await describeOnRedis('the texts that an agent writes for a server', (pods) => {
  interface BeginOptions {
    readonly delivery?: 'detach';
    readonly services?: Support['services'];
  }

  interface OpenOptions {
    readonly config?: string;
    readonly limits?: string;
  }

  async function open(revision: Revision, { config = ', sampling: true', limits = '' }: OpenOptions = {}) {
    const server = await startRequestingServer(revision);
    onTestFinished(server.kill);
    const world = worldOn(model, {}, pods.backend, pods.second);
    let tokens = 0;
    const write: Runs['write'] = (ref, given) => {
      tokens += tokensOf(given.notes ?? []);
      return pods.backend.runs.write(ref, given);
    };
    const join = (on: 'backend' | 'second') =>
      startConfiguredPod({
        yaml: `models:
  scripted: { provider: openai-compatible, baseUrl: "${model.current.url}", model: scripted }
agents:
  helper: { title: Helper, model: scripted, instructions: Be brief., tools: [{ server: desk }], limits: { ${limits} } }
mcpServers:
  desk: { title: Front Desk, transport: http, url: "${server.url}", credentialScope: none${config} }
`,
        backend: { ...pods[on], runs: { ...pods[on].runs, write } },
        engine: engineOn(pods[on]),
        rounds: createRoundSeals(KEYS),
        leaseTiming: TIMING,
        pod: `${on} of ${server.url}`,
      });
    const pod = join('backend');
    const { engine, conversation } = world;
    return {
      ...world,
      server,
      pod,
      join,
      /** Tokens that count against the quotas of the person. */
      tokens: () => tokens,
      begin: (text: string, { delivery, services }: BeginOptions = {}) =>
        pod.turns.begin({
          ...world.saying(text),
          support: { form: true, url: true, services },
          ...(delivery !== undefined && { delivery }),
        }),
      approval: () =>
        waitUntil(async () => (await pendingOf(engine, conversation))[0], { what: 'the approval' }),
      decide: (id: string, response: ApprovalInput) =>
        engine.approvals.decide({
          caller: { kind: 'user', tenant: conversation.tenant, userId: conversation.userId },
          id,
          response,
          surface: 'chat',
        }),
      async words(run: RunRef): Promise<string> {
        expect(await world.ended(run)).toBe('finished');
        return world.text(run);
      },
    };
  }

  describe.each(REVISIONS)('of the %s revision', (revision) => {
    it('are written once the person has approved what the model is given, which is nothing of the chat [SAMP-04 SAMP-05]', async () => {
      const { begin, approval, decide, words, events, server } = await open(revision);
      const before = model.current.requests.length;
      const run = await begin('call context Autumn');
      const { id, definition } = await approval();
      expect(definition).toMatchObject({
        toolCallId: expect.stringMatching(/\.sampling-0\.[\w-]{43}$/),
        agent: 'Helper',
        tool: { server: 'desk', title: 'Text for Front Desk' },
        arguments: { system: 'Be brief.', messages: [{ role: 'user', text: 'Autumn' }] },
      });
      expect(model.current.requests).toHaveLength(before + 1);
      await decide(id, { decision: 'approve' });
      expect(await words(run)).toContain('Verses on Autumn');
      expect(server.effects).toEqual([expect.stringContaining('"model":"Helper"')]);
      const written = expect.objectContaining({ body: expect.objectContaining({ max_tokens: 50 }) });
      expect(model.current.requests).toContainEqual(written);
      const shown = (await events(run)).map(turnEventOf).filter((event) => event !== undefined);
      expect(shown).toContainEqual(
        expect.objectContaining({
          type: 'tool-returned',
          toolCallId: definition.toolCallId,
          output: 'Verses on Autumn',
        }),
      );
    });

    it('are written from what the person has edited [SAMP-04]', async () => {
      const { begin, approval, decide, words, tokens, record } = await open(revision);
      const run = await begin('call write Autumn');
      const { id } = await approval();
      const messages = [{ role: 'user', text: 'Spring' }];
      await decide(id, { decision: 'edit', arguments: { messages } });
      expect(await words(run)).toContain('Verses on Spring');
      const { inputTokens = 0, outputTokens = 0 } = (await record(run))?.steps[0]?.used ?? {};
      const last = (await record(run))?.steps.at(-1);
      // The tokens of each text and of each step count once.
      expect(tokens()).toBe(
        inputTokens + outputTokens + (last?.inputTokens ?? 0) + (last?.outputTokens ?? 0),
      );
    });

    it('count also where the turn is stopped before its step has ended', async () => {
      const { begin, approval, decide, tokens, record, pod, ended, events } = await open(revision);
      const run = await begin('call halfway Autumn');
      await decide((await approval()).id, { decision: 'approve' });
      await waitUntil(
        async () => (await events(run)).some((event) => turnEventOf(event)?.type === 'tool-returned'),
        { what: 'the text' },
      );
      await pod.turns.stop(run);
      await ended(run);
      const step = (await record(run))?.steps[0];
      expect(tokens()).toBeGreaterThan((step?.inputTokens ?? 0) + (step?.outputTokens ?? 0));
    });

    it('are refused where the person denies them, and the server learns it [SAMP-04 SAMP-09]', async () => {
      const { begin, approval, decide, words, server } = await open(revision);
      const before = model.current.requests.length;
      const run = await begin('call write Autumn');
      await decide((await approval()).id, { decision: 'deny' });
      expect(await words(run)).not.toContain('Verses');
      expect(server.effects).toEqual([]);
      expect(server.errors.map(({ code }) => code)).toEqual(revision === 'old' ? [-1] : []);
      // The turn's own two steps.
      expect(model.current.requests).toHaveLength(before + 2);
    });

    it('are refused by a message in their place, and the turn ends without another word', async () => {
      const { begin, approval, engine, ended, events, conversation } = await open(revision);
      const before = model.current.requests.length;
      const run = await begin('call write Autumn');
      const { tenant, userId } = conversation;
      await engine.approvals.decide({
        caller: { kind: 'user', tenant, userId },
        id: (await approval()).id,
        response: { decision: 'deny' },
        surface: BY_MESSAGE,
      });
      await ended(run);
      const last = (await events(run)).map(turnEventOf).at(-1);
      expect(last).toMatchObject({ type: 'turn-finished', reason: 'stopped' });
      expect(model.current.requests).toHaveLength(before + 1);
    });

    it('are not offered unless the configuration says so [SAMP-01]', async () => {
      const { begin, words, server } = await open(revision, { config: '' });
      expect(await words(await begin('call write Autumn'))).not.toContain('Verses');
      expect(server.effects).toEqual([]);
    });

    it('are no more than the limits say [SAMP-05 SAMP-06]', async () => {
      const limits = 'samplesPerCall: 1, sampleTokens: 7';
      const { begin, approval, decide, words, server, engine, conversation } = await open(revision, {
        limits,
      });
      expect(await words(await begin('call twice Autumn'))).toContain('One call may ask for 1 texts');
      expect(server.effects).toEqual([]);
      expect(await pendingOf(engine, conversation)).toEqual([]);
      const run = await begin('call write Autumn');
      await decide((await approval()).id, { decision: 'approve' });
      expect(await words(run)).toContain('Verses');
      expect(model.current.requests).toContainEqual(
        expect.objectContaining({ body: expect.objectContaining({ max_tokens: 7 }) }),
      );
    });
  });

  it('are not asked for any more once the server has returned without them', async () => {
    const { begin, approval, words, engine, server } = await open('old');
    const run = await begin(`call ${UNAWAITED} Autumn`);
    const { id, definition } = await approval();
    server.returnUnawaited();
    expect(await words(run)).toContain('without the text');
    const { row } = await engine.approvals.read({ kind: 'service', tenant: definition.tenant }, id);
    expect([row.status, row.settlement?.reason]).toEqual(['withdrawn', 'withdrawn_by_asker']);
  });

  it('are those of the client of the turn where it has a model of its own', async () => {
    const { begin, words, events, conversation, server } = await open('new');
    const run = await begin('call write Autumn', { services: { sampling: { tools: false } } });
    const asked = await waitUntil(
      async () => (await events(run)).map(turnEventOf).find((event) => event?.type === 'client-asked'),
      { what: 'the request' },
    );
    if (asked.type !== 'client-asked') throw new Error('no request');
    const content = { type: 'text', text: 'Verses of the client' };
    const result = { role: 'assistant', content, model: 'client' };
    await createClientRequests(pods.second).answer(conversation, asked.requestId, { result });
    expect(await words(run)).toContain('Verses of the client');
    expect(server.effects).toHaveLength(1);
  });

  it('need no pod while the person thinks, and any pod writes them, in the 2026 revision', async () => {
    const { begin, approval, decide, words, join, pod, standing, server } = await open('new');
    const run = await begin('call write Autumn', { delivery: 'detach' });
    const { id } = await approval();
    await waitUntil(async () => (await standing(run))?.owner === 'detached', { what: 'the detached run' });
    await pod.close();
    const { turns } = join('second');
    await decide(id, { decision: 'approve' });
    await turns.attend(run);
    expect(await words(run)).toContain('Verses on Autumn');
    expect(server.effects).toHaveLength(1);
  });
});

async function pendingOf(
  { approvals }: Pick<ReturnType<typeof engineOn>, 'approvals'>,
  { tenant, userId }: ConversationRef,
) {
  const { rows } = await approvals.list({ owner: { tenant, userId }, limit: 50 });
  return rows.filter(({ status }) => status === 'pending');
}
