import { afterAll, afterEach, beforeAll } from 'vitest';
import { type EchoTools, startEchoTools } from '../../../infra/demo/stand-ins/issue-tracker/echo.ts';
import { type ChatSite, openChatSite, PATIENT_HEALTH } from '../../harness/chat/transport-site.ts';
import { agUiClients } from './ag-ui.ts';
import {
  CONVERSATIONS_ENV,
  conversations,
  conversationsFile,
  ECHO_HEADERS,
  echoingLine,
  faultFor,
} from './conversations.ts';
import { detachedTurns } from './detach.ts';
import { messagesSentAgain, repeatingLine } from './idempotency.ts';
import { stepsStartedAgain } from './openai-steps.ts';
import { statesOfTurns } from './table.ts';
import { streamingLine, streams } from './transport.ts';

let chats: ChatSite;
let echo: EchoTools;
beforeAll(async () => {
  echo = await startEchoTools({ headers: ECHO_HEADERS });
  chats = await openChatSite({
    script: [echoingLine, streamingLine, repeatingLine],
    fault: faultFor,
    file: conversationsFile(echo.url),
    delayMs: 1,
    hasDesk: true,
    // So long that no starved pod loses its turn to another: rounds of the model are counted.
    env: { ...CONVERSATIONS_ENV, PARLEY_LEASE_MS: '10000' },
    health: PATIENT_HEALTH,
  });
});
afterEach(() => chats.gate.release());
afterAll(async () => {
  await chats?.stop();
  await echo?.stop();
});

conversations(() => chats);
messagesSentAgain(() => chats);
detachedTurns(() => chats);
stepsStartedAgain(() => chats);
statesOfTurns(() => chats);
agUiClients(() => chats);
await streams(() => chats);
