/** People rename and delete their conversations. */
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { expect, it } from 'vitest';
import { ROOMY } from '../../harness/engines/settings.ts';
import { modelOf, SURE, worldOn } from '../../harness/turns/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { openDoors } from './chat-doors.ts';

const model = modelOf(({ userText, results }) =>
  userText === 'ask' && results.length === 0 ? { calls: [SURE] } : { text: 'Done.' },
);
const STRANGER = { authorization: 'Bearer acme/a-stranger' };
const NOT_FOUND = { status: 404, body: expect.objectContaining({ code: 'not_found' }) };

/** A pod whose person may have one conversation only. */
function openSmall() {
  const chatQuotas = { ...ROOMY.chatQuotas, conversationsMax: 1 };
  const world = worldOn(model, {}, createMemoryBackend({ ...ROOMY, chatQuotas }));
  return openDoors(world).then((doors) => ({ ...doors, world }));
}

it('a conversation has the title that its person gives it, and nobody else', async () => {
  const { call, chat } = await openSmall();
  await chat('c1').sendMessage({ text: 'hello' });
  const rename = (title: string, ...as: [Record<string, string>?]) =>
    call('PATCH', '/run/api/chats/c1', { title }, ...as);
  expect(await rename('Mine', STRANGER)).toEqual(NOT_FOUND);
  expect(await rename('  Trip\nto Oslo ')).toEqual({
    status: 200,
    body: { conversationId: 'c1', title: 'Trip to Oslo' },
  });
  await chat('c1').sendMessage({ text: 'hello again' });
  const { body } = await call('GET', '/run/api/chats');
  expect(body.conversations).toMatchObject([{ conversationId: 'c1', title: 'Trip to Oslo' }]);
  for (const title of ['', ' ', 'x'.repeat(81)]) expect((await rename(title)).status).toBe(400);
  expect(await call('PATCH', '/run/api/chats/c2', { title: 'None' })).toEqual(NOT_FOUND);
});

it('a conversation that is deleted leaves nothing, whatever its turn waits for', async () => {
  const { call, chat, world } = await openSmall();
  const page = chat('c1');
  await page.sendMessage({ text: 'hello' });
  const asked = page.sendMessage({ text: 'ask' });
  await waitUntil(async () => (await world.open()).length === 1, { what: 'the question' });
  const erase = (...as: [Record<string, string>?]) => call('DELETE', '/run/api/chats/c1', undefined, ...as);
  expect(await erase(STRANGER)).toEqual(NOT_FOUND);
  expect(await erase()).toEqual({ status: 200, body: { deleted: true } });
  // The page reads the end of its turn: it shows no error.
  await asked;
  expect([page.errors, page.status]).toEqual([[], 'ready']);
  expect(await world.open()).toEqual([]);
  for (const path of ['/run/api/chat/c1/messages', '/run/api/chat/c1/timeline'])
    expect(await call('GET', path)).toMatchObject({ status: 404 });
  expect((await call('GET', '/run/api/chats')).body).toEqual({ conversations: [] });
  expect(await erase()).toEqual(NOT_FOUND);
  // It counts no more.
  const next = chat('c2');
  await next.sendMessage({ text: 'hello' });
  expect([next.errors, next.reply]).toEqual([[], 'Done.']);
});
