import { createMemoryBackend } from '@parley/shared/memory/backend';
import { expect, it } from 'vitest';
import type { RunContext } from '../../../../services/api/src/agents/run/run-context.ts';
import { sampleForServer } from '../../../../services/api/src/agents/tools/passthrough/samples.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import { ROOMY } from '../../../harness/engines/settings.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const RUN = { tenant: 't', userId: 'u', streamRequestId: 'r', conversationId: 'c' };
const SIGNAL = new AbortController().signal;

/** The context of a run whose model repeats what it is given. */
function contextOf(engine: ReturnType<typeof engineOn>): RunContext {
  const context = {
    engine,
    turn: { run: RUN, support: {}, poll: async () => undefined, openQuestions: 0 },
    run: RUN,
    writer: { save: async () => undefined, saveSoon: async () => undefined },
    budget: { isSpent: false, left: 1_000, spend: () => undefined },
    open: new Set(),
    inheritedPauses: new Map(),
    id: 'helper',
    title: 'Helper',
    signal: SIGNAL,
    sample: async ({ messages }: { messages: readonly { content: unknown }[] }) => ({
      record: { messages: [{ role: 'assistant', content: messages[0]?.content }], finishReason: 'stop' },
    }),
  };
  return context as unknown as RunContext;
}

it('a text is approved anew where a server that is called again asks for another one at the same place', async () => {
  const engine = engineOn(createMemoryBackend(ROOMY));
  const ask = (text: string) =>
    sampleForServer(
      contextOf(engine),
      {
        toolCallId: 'call',
        step: 0,
        waiting: (wait) => wait(),
        appendEvent: async () => undefined,
        spent: async () => undefined,
        signal: SIGNAL,
      },
      {
        ordinal: 0,
        server: { id: 'desk', title: 'Desk' },
        params: { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 10 },
        tokensMax: 10,
        timeoutSeconds: 60,
        withdrawn: SIGNAL,
      },
    );
  const pending = async () => {
    const { rows } = await engine.approvals.list({ owner: { tenant: 't', userId: 'u' }, limit: 10 });
    return rows.filter(({ status }) => status === 'pending');
  };
  const approve = async (text: string) => {
    const row = await waitUntil(async () => (await pending())[0], { what: 'the approval', timeoutMs: 5_000 });
    expect(row.definition.arguments).toEqual({ messages: [{ role: 'user', text }] });
    await engine.approvals.decide({
      caller: { kind: 'user', tenant: 't', userId: 'u' },
      id: row.id,
      response: { decision: 'approve' },
      surface: 'chat',
    });
  };

  const first = ask('Autumn');
  await approve('Autumn');
  expect(await first).toMatchObject({ content: { text: 'Autumn' } });
  expect(await ask('Autumn')).toMatchObject({ content: { text: 'Autumn' } });
  const other = ask('Everything that you know');
  await approve('Everything that you know');
  await other;
});
