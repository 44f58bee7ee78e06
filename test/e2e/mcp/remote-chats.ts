import { randomUUID } from 'node:crypto';
import { createClient } from '@parley/sdk';
import { createChatTransport } from '@parley/sdk/chat';
import type { UIMessage } from 'ai';
import { type Asked, questionsIn } from '../../harness/chat/client.ts';
import { PlainChat } from '../../harness/chat/plain-chat.ts';
import { serviceKeyOf } from '../../harness/load/load-env.ts';

/** A chat whose agent hands its message to an agent of another Parley. */
export interface RemoteChat {
  readonly name: string;
  /** Resolves when the turn has ended, whichever pods were lost. */
  readonly ended: Promise<unknown>;
  questions(): readonly Asked[];
  /** The statuses of its questions at each change, as it showed them. */
  readonly statuses: readonly string[];
  text(): string;
  /** Answers the question of the chat. */
  answer(): Promise<unknown>;
}

/** Sends a message, `<word> <name>`, through the transport of the SDK. */
export function startRemoteChat(url: string, token: string, word: string): RemoteChat {
  const name = randomUUID();
  const transport = createChatTransport({ baseUrl: url, token, retry: { firstDelayMs: 50 } });
  const chat = new PlainChat({ id: name, transport });
  transport.attach(chat);
  const message = (): UIMessage | undefined => chat.messages.at(-1);
  const questions = () => questionsIn(message());
  const ended = chat.sendMessage({ text: `${word} ${name}` });
  ended.catch(() => undefined);
  return {
    name,
    ended,
    questions,
    statuses: chat.statuses,
    text: () => chat.reply,
    answer: () =>
      createClient({ baseUrl: url, token }).answer(questions()[0]?.elicitationId ?? '', {
        action: 'accept',
        content: { answer: 'green' },
      }),
  };
}

/** How the questions of a person ended, or are, in a tenant; with `about`, those whose message has that text. */
export async function statusesOf(
  url: string,
  tenant: string,
  userId: string,
  about = '',
): Promise<readonly string[]> {
  const statuses: string[] = [];
  const service = createClient({ baseUrl: url, token: serviceKeyOf(tenant) });
  for await (const { message, status } of service.list({ userId }))
    if (message.includes(about)) statuses.push(status);
  return statuses;
}
