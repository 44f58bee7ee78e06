import { afterAll, afterEach, beforeAll } from 'vitest';
import { type ChatSite, openChatSite, PATIENT_HEALTH } from '../../harness/chat/transport-site.ts';
import { detachedTurns } from './detach.ts';
import { messagesSentAgain, repeatingLine } from './idempotency.ts';
import { stepsStartedAgain } from './openai-steps.ts';
import { streamingLine, streams } from './transport.ts';

let chats: ChatSite;
beforeAll(async () => {
  chats = await openChatSite({
    script: [streamingLine, repeatingLine],
    delayMs: 1,
    hasDesk: true,
    // So long that no starved pod loses its turn to another: rounds of the model are counted.
    env: { PARLEY_LEASE_MS: '10000' },
    health: PATIENT_HEALTH,
  });
});
afterEach(() => chats.gate.release());
afterAll(() => chats?.stop());

messagesSentAgain(() => chats);
detachedTurns(() => chats);
stepsStartedAgain(() => chats);
await streams(() => chats);
