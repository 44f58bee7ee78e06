import { isChatStreamError, type ParleyChatTransport } from '@parley/sdk/chat';
import { describe, expect, it } from 'vitest';
import { keepTurns, loseReply, refuse, reply } from '../../harness/chat/chat-server.ts';
import { PlainChat } from '../../harness/chat/plain-chat.ts';
import { IMPATIENT, serveChats, transportTo, whole } from './chat-turn.ts';

const { server } = await serveChats();

describe('a message of unknown outcome', () => {
  /** A chat whose message got no reply, with the server's turns. */
  async function unheard() {
    const turns = keepTurns(() => whole);
    server.will(turns.take('lost'));
    server.always(turns.take('whole'));
    const transport = transportTo(server, { retry: IMPATIENT });
    const chat = new PlainChat({ id: 'c1', transport });
    await chat.sendMessage({ text: 'hello' });
    expect(isChatStreamError(chat.error, 'outcome-unknown')).toBe(true);
    return { chat, turns, transport };
  }

  it('counts once when the person sends it again, and again only after a complete reply', async () => {
    const { chat, turns } = await unheard();
    await chat.regenerate();
    expect([chat.status, chat.reply, turns.begun]).toEqual(['ready', 'Hello world', 1]);
    await chat.regenerate();
    expect([chat.status, chat.reply, turns.begun]).toEqual(['ready', 'Hello world', 2]);
  });

  it('keeps its key while further tries fail, too', async () => {
    const { chat, turns } = await unheard();
    server.will(refuse(401, 'unauthenticated'), loseReply);
    await chat.regenerate();
    await chat.regenerate();
    await chat.regenerate();
    expect([chat.status, chat.reply, turns.begun]).toEqual(['ready', 'Hello world', 1]);
  });

  it.each<[string, (unheard: { chat: PlainChat; transport: ParleyChatTransport }) => Promise<unknown>]>([
    [
      'it says something else',
      ({ chat }) => chat.sendMessage({ text: 'hi', messageId: chat.lastMessage?.id ?? '' }),
    ],
    ['another message takes its place', ({ chat }) => chat.sendMessage({ text: 'hello' })],
    [
      'its turn was stopped in the meantime',
      async ({ chat, transport }) => {
        server.will(reply({ stopped: true }));
        await transport.stopTurn('c1');
        await chat.regenerate();
      },
    ],
    [
      'the server takes it for another',
      async ({ chat }) => {
        server.will(refuse(409, 'idempotency_mismatch'));
        await chat.regenerate();
        await chat.regenerate();
      },
    ],
  ])('is a new one when %s', async (_when, next) => {
    const { turns, ...rest } = await unheard();
    await next(rest);
    expect([rest.chat.status, rest.chat.reply, turns.begun]).toEqual(['ready', 'Hello world', 2]);
  });
});
