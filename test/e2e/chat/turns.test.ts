import { afterAll, afterEach, beforeAll } from 'vitest';
import { type EchoTools, startEchoTools } from '../../../stand-ins/issue-tracker/echo.ts';
import { type ChatSite, openChatSite } from '../../harness/chat/transport-site.ts';
import { agUiClients, speakingRun, waitingRun } from './ag-ui.ts';
import {
  CONVERSATIONS_ENV,
  conversations,
  conversationsFile,
  ECHO_HEADERS,
  echoingLine,
  faultFor,
  heldTurn,
} from './conversations.ts';
import { detachedTurn, detachedTurns } from './detach.ts';
import { messageSentAgain, messagesSentAgain, repeatingLine } from './idempotency.ts';
import { stepThatStartsAgain } from './openai-steps.ts';
import { afterOneDeath } from './shared-death.ts';
import { statesOfDeath, statesOfTurns } from './table.ts';
import { repliesThatBreak, streamingLine, streams } from './transport.ts';

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
    env: CONVERSATIONS_ENV,
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
statesOfTurns(() => chats);
agUiClients(() => chats);
afterOneDeath('the pod of turns that wait, or whose model speaks, is killed', () => chats, [
  heldTurn,
  detachedTurn,
  waitingRun,
  statesOfDeath(() => chats),
  stepThatStartsAgain(() => chats),
  speakingRun,
  messageSentAgain,
  repliesThatBreak,
]);
await streams(() => chats);
