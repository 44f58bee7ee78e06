import { expect, it } from 'vitest';
import { readHistoryWithReply } from '../../../services/api/src/turns/approvals/waiting-reply.ts';
import type { ConversationHistory } from '../../../services/api/src/turns/history.ts';

const conversation = { tenant: 't', userId: 'ada', conversationId: 'c' };
const asked = { id: 'msg_0', role: 'user', parts: [{ type: 'text', text: 'pay', state: 'done' }] } as const;
const replied = { id: 'msg_1', role: 'assistant', parts: [] } as const;

/** A store that replies with these states, one for each reading, and has no turn that can be followed. */
function storeWith(...states: ConversationHistory[]) {
  const nothing = async function* () {};
  return {
    engine: { replay: nothing, replayItems: nothing },
    turns: {
      history: async () => states.shift() ?? Promise.reject(new Error('read once more than expected')),
      resumable: async () => undefined,
      isWaiting: async () => false,
    },
  };
}

it('a turn that ends before its reply is read from its stream is read from the history', async () => {
  const ended = { messages: [asked, replied], isRunning: false };
  const deps = storeWith({ messages: [asked], isRunning: true }, ended);
  expect(await readHistoryWithReply(deps, conversation)).toEqual(ended);
});

it('a turn that runs on is running, and its reply is read from its stream', async () => {
  const running = { messages: [asked], isRunning: true };
  expect(await readHistoryWithReply(storeWith(running, running), conversation)).toEqual(running);
});
