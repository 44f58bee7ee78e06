import {
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai';
import { expect, it } from 'vitest';
import { withApproval } from '../../../services/api/src/agents/tools/approvals/gate.ts';
import { decisionsIn } from '../../../services/api/src/surfaces/ai-sdk/approvals.ts';
import { createAiSdkEncoder } from '../../../services/api/src/surfaces/ai-sdk/encoder.ts';
import { decideTogether, endBefore } from '../../../services/api/src/turns/approvals/continue.ts';
import { encodeTurn } from '../../../services/api/src/turns/encoder.ts';
import { followTurn } from '../../../services/api/src/turns/follow.ts';
import { readReplayFacts } from '../../../services/api/src/turns/replay.ts';
import { PlainChat } from '../../harness/chat/plain-chat.ts';
import { modelOf, worldOn } from '../../harness/turns/site.ts';

const model = modelOf(({ results }) =>
  results.length > 0
    ? { text: `Done: ${results.map(({ text }) => text).join(' | ')}` }
    : {
        text: 'Two bookings. ',
        calls: ['B-1', 'B-2'].map((booking) => ({ name: 'cancel', arguments: { booking } })),
      },
);

const SOURCE = {
  name: 'cancel',
  modelName: 'cancel',
  description: 'Cancels.',
  inputSchema: { type: 'object', properties: { booking: { type: 'string' } } },
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};

it('a stock chat of the AI SDK approves one call and denies another, and reads the rest of the turn once', async () => {
  const sent: unknown[] = [];
  const cancel = withApproval(
    {
      name: SOURCE.name,
      description: SOURCE.description,
      inputSchema: SOURCE.inputSchema,
      async call({ beforeDispatch }) {
        sent.push(await beforeDispatch());
        return { type: 'returned', output: 'cancelled' };
      },
    },
    {
      policy: { rule: 'always', remember: undefined, demands: () => true },
      server: 'bookings',
      source: SOURCE,
      timeoutSeconds: 600,
    },
  );
  const { pod, conversation: owner, saying } = worldOn(model);
  const { engine, turns } = pod({ agents: { helper: { tools: [cancel] } } });
  const caller = { kind: 'user', tenant: owner.tenant, userId: owner.userId } as const;
  const deps = { engine, turns };
  let requests = 0;

  /** The chat API as the routes put it together, without HTTP. */
  async function serve(_url: unknown, init?: RequestInit): Promise<Response> {
    requests += 1;
    const { messages } = JSON.parse(String(init?.body)) as { messages: UIMessage[] };
    const decisions = decisionsIn(messages as never);
    const signal = new AbortController().signal;
    const place = { signal, release: () => undefined };
    const conversationId = owner.conversationId;
    if (decisions.length === 0) {
      const run = await turns.begin(saying('Cancel both'));
      const events = await followTurn(deps, run, { signal });
      return streamed(encodeTurn(events, createAiSdkEncoder(), place));
    }
    const decided = { caller, conversationId, decisions, surface: 'chat', admit: async () => undefined };
    const stream = await decideTogether(engine, decided);
    const ids = decisions.map(({ id }) => id);
    const after = await endBefore(engine, caller, stream, ids);
    const facts = await readReplayFacts(deps, stream, after);
    const events = await followTurn(deps, stream, { signal, facts, after });
    return streamed(encodeTurn(events, createAiSdkEncoder(after), place));
  }

  const chat = new PlainChat({
    id: 'talk',
    transport: new DefaultChatTransport<UIMessage>({
      api: 'http://parley.test',
      fetch: serve as typeof fetch,
    }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  await chat.sendMessage({ text: 'Cancel both' });
  const parts = () => (chat.lastMessage?.parts ?? []).filter(isToolUIPart);
  expect(chat.status).toBe('ready');
  expect(parts().map(({ state }) => state)).toEqual(['approval-requested', 'approval-requested']);
  expect(sent).toEqual([]);

  const [first, second] = parts();
  await chat.addToolApprovalResponse({ id: first?.approval?.id ?? '', approved: true });
  expect(requests).toBe(1);
  await chat.addToolApprovalResponse({
    id: second?.approval?.id ?? '',
    approved: false,
    reason: 'Keep it.',
  });
  await expect.poll(() => chat.reply).toContain('Done');
  await expect.poll(() => chat.status).toBe('ready');
  expect(requests).toBe(2);
  expect(sent).toEqual([{ booking: 'B-1' }]);
  expect(parts().map(({ state }) => state)).toEqual(['output-available', 'output-denied']);
  expect(chat.reply.match(/Two bookings/g)).toHaveLength(1);
  expect(chat.reply).toContain('Keep it.');
  expect(chat.errors).toEqual([]);
});

it('decisions of one request are admitted each, once an approval, and are limited in number', async () => {
  const admitted: string[] = [];
  const decided: string[] = [];
  const definition = { tenant: 'acme', userId: 'ada', streamRequestId: 's' };
  const engine = {
    approvals: {
      read: async () => ({ row: { definition }, now: 0 }),
      decide: async ({ id }: { id: string }) => void decided.push(id),
    },
  } as unknown as Parameters<typeof decideTogether>[0];
  const decideOn = (ids: readonly string[]) =>
    decideTogether(engine, {
      caller: { kind: 'user', tenant: 'acme', userId: 'ada' },
      conversationId: 'talk',
      decisions: ids.map((id) => ({ id, response: { decision: 'approve' } })),
      surface: 'chat',
      admit: async (id) => void admitted.push(id),
    });
  await decideOn(['ap_1', 'ap_2', 'ap_1', 'ap_1']);
  expect(admitted).toEqual(['ap_1', 'ap_2']);
  expect(decided).toEqual(['ap_1', 'ap_2']);
  const many = Array.from({ length: 101 }, (_, at) => `ap_${at}`);
  await expect(decideOn(many)).rejects.toMatchObject({ code: 'invalid_request' });
  expect(decided).toHaveLength(2);
});

function streamed(
  frames: AsyncIterable<{ readonly text: string; readonly id?: string | undefined }>,
): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for await (const { text } of frames) controller.enqueue(encoder.encode(`data: ${text}\n\n`));
      controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}
