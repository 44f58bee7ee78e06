/** What people send beside text reaches the model, or its reader and the model are told that it was left out. */
import { modelMessageSchema } from 'ai';
import { describe, expect, it } from 'vitest';
import { modelOf, worldOn } from '../../harness/turns/site.ts';
import { openDoors } from './chat-doors.ts';
import { langChainLike } from './langchain.ts';

const model = modelOf(() => ({ text: 'I see.' }), {
  fault: ({ body: { messages } }) => {
    const sent = JSON.stringify(messages);
    const isRefused = sent.includes(BROKEN) || (sent.includes(GONE) && sent.includes('And now?'));
    const isTooLong = JSON.stringify(messages.at(-1)).includes(TOO_LONG);
    return isRefused || isTooLong ? { kind: 'refuse', status: 400 } : undefined;
  },
});
const asked = () => model.current.requests.at(-1)?.body.messages ?? [];

const png = (more = Buffer.alloc(0)) =>
  `data:image/png;base64,${Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), more]).toString('base64')}`;
const PHOTO = png();
/** An image that no model can read. */
const BROKEN = png(Buffer.from('broken'));
/** An image that the model reads once only. */
const GONE = 'https://pictures.example/gone.png';
/** A text that the model refuses, for reasons of its own. */
const TOO_LONG = 'Too long';
const ADDRESS = 'https://pictures.example/cat.png';
const TAKES = { number: 2, bytes: 1_000, urls: true };
const LOOK = { type: 'text', text: 'Look' } as const;
const NONE_TAKEN = '`photo.png` was left out: this agent takes no images.';

type Doors = Awaited<ReturnType<typeof openDoors>>;

const file = (url: string, mediaType = 'image/png', filename = 'photo.png') =>
  ({ type: 'file', mediaType, url, filename }) as const;

/** Sends a text with this file through each door. Resolves with the reply as its reader has it. */
const DOORS = {
  async useChat({ chat }: Doors, url: string) {
    const page = chat('c1');
    await page.sendMessage({ parts: [LOOK, file(url)] });
    expect(page.errors).toEqual([]);
    return page.messages
      .at(-1)
      ?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
      .join(' ');
  },
  async 'chat completions'({ openAi }: Doors, url: string) {
    const content = [LOOK, { type: 'image_url' as const, image_url: { url }, filename: 'photo.png' }];
    const body = { model: 'helper', conversationId: 'c1', messages: [{ role: 'user' as const, content }] };
    const reply = await openAi.chat.completions.create(body);
    return reply.choices[0]?.message.content?.replace('\n\n', ' ');
  },
  async LangChain({ openAi }: Doors, url: string) {
    const chat = langChainLike(openAi, { model: 'helper', modelKwargs: { conversationId: 'c1' } });
    const content = [LOOK, { type: 'image_url', image_url: { url }, filename: 'photo.png' }];
    return (await chat.invoke([['human', content]])).text.replace('\n\n', ' ');
  },
};
const doors = Object.entries(DOORS);

describe('an image beside text', () => {
  it.each(doors)('sent with %s reaches the model, and a reload shows it', async (_, send) => {
    for (const url of [PHOTO, ADDRESS]) {
      const pod = await openDoors(worldOn(model), { agents: { helper: { images: TAKES } } });
      expect(await send(pod, url)).toBe('I see.');
      expect(asked().at(-1)?.content).toEqual([
        LOOK,
        { type: 'image_url', image_url: expect.objectContaining({ url }) },
      ]);
      expect(await pod.reloaded('c1')).toMatchObject([
        { role: 'user', parts: [LOOK, { type: 'file', filename: 'photo.png', url }] },
        { role: 'assistant', parts: [{ type: 'step-start' }, { text: 'I see.' }] },
      ]);
    }
  });

  it.each(doors)('sent with %s to an agent that takes none is named to all', async (_, send) => {
    const pod = await openDoors(worldOn(model));
    expect(await send(pod, PHOTO)).toBe(`${NONE_TAKEN} I see.`);
    expect(asked().at(-1)?.content).toEqual([LOOK, { type: 'text', text: `[${NONE_TAKEN}]` }]);
    expect(await pod.reloaded('c1')).toMatchObject([
      { role: 'user', parts: [LOOK, { type: 'data-left-out', data: { text: NONE_TAKEN } }] },
      { role: 'assistant', parts: [{ type: 'step-start' }, { text: NONE_TAKEN }, { text: 'I see.' }] },
    ]);
    await send(pod, PHOTO);
    // The model reads its own replies without what Parley said before them.
    expect(asked().at(2)).toMatchObject({ role: 'assistant', content: 'I see.' });
  });

  it('is read by the model again with each later message', async () => {
    const pod = await openDoors(worldOn(model), { agents: { helper: { images: TAKES } } });
    const page = pod.chat('c1');
    await page.sendMessage({ files: [file(PHOTO)] });
    await page.sendMessage({ text: 'And now?' });
    expect(asked().at(1)?.content).toEqual([{ type: 'image_url', image_url: { url: PHOTO } }]);
  });

  it('may be larger than other bodies', async () => {
    const images = { ...TAKES, bytes: 400_000 };
    const pod = await openDoors(worldOn(model), { agents: { helper: { images } } });
    expect(await DOORS.useChat(pod, png(Buffer.alloc(300_000)))).toBe('I see.');
  });

  const many = 'at most 2 images can be passed on';
  const large = 'the images have more than 1000 bytes together; send a smaller one';
  it.each([
    ['too many', [file(PHOTO), file(PHOTO), file(PHOTO)], many],
    ['too large', [file(png(Buffer.alloc(1_000)))], large],
    ['no image', [file('data:application/pdf;base64,JVBERi0=', 'application/pdf')], 'only images'],
    ['called an image', [file('data:image/png;base64,JVBERi0=')], 'only images'],
    ['at an address without TLS', [file('http://pictures.example/cat.png')], 'its address must be'],
  ])('that is %s is left out with the reason', async (_, files, reason) => {
    const pod = await openDoors(worldOn(model), { agents: { helper: { images: TAKES } } });
    const page = pod.chat('c1');
    await page.sendMessage({ text: 'Look', files });
    expect(page.reply).toMatch(new RegExp(`^\`photo.png\` was left out: ${reason}`));
    expect(JSON.stringify(asked())).toContain(reason);
  });

  it.each([
    ['at once', BROKEN, 1],
    ['later', GONE, 0],
  ])('that the model refuses %s is left out of later requests', async (_, url, failed) => {
    const pod = await openDoors(worldOn(model), { agents: { helper: { images: TAKES } } });
    const page = pod.chat('c1');
    await page.sendMessage({ parts: [LOOK, file(url)] });
    expect(page.errors).toHaveLength(failed);
    const before = model.current.requests.length;
    for (const number of [1, 2]) {
      await page.sendMessage({ text: 'And now?' });
      expect(page.reply).toBe('I see.');
      // The first request was refused and repeated.
      expect(model.current.requests).toHaveLength(before + 1 + number);
      expect(JSON.stringify(asked().at(1))).toContain(
        '`photo.png` was left out: a request with it was refused.',
      );
    }
    // The person keeps it.
    expect((await pod.reloaded('c1'))[0]?.parts).toMatchObject([LOOK, { type: 'file', url }]);
  });

  it('stays where the model refuses its message or a later one for another reason', async () => {
    const pod = await openDoors(worldOn(model), { agents: { helper: { images: TAKES } } });
    const page = pod.chat('c1');
    await page.sendMessage({ parts: [LOOK, file(PHOTO)] });
    await page.sendMessage({ text: TOO_LONG, files: [file(ADDRESS)] });
    expect(page.errors).toHaveLength(1);
    await page.sendMessage({ text: 'And so?' });
    expect(page.reply).toBe('I see.');
    for (const url of [PHOTO, ADDRESS]) expect(JSON.stringify(asked())).toContain(url);
  });

  it('counts towards the limits with those of earlier messages, the newest first', async () => {
    const pod = await openDoors(worldOn(model), { agents: { helper: { images: TAKES } } });
    const page = pod.chat('c1');
    for (const name of ['1', '2', '3'])
      await page.sendMessage({ files: [file(png(Buffer.from(name)), 'image/png', name)] });
    const sent = asked()
      .filter(({ role }) => role === 'user')
      .map(({ content }) => JSON.stringify(content));
    expect(sent).toEqual([
      expect.stringContaining('`1` was left out: at most 2 images can be passed on.'),
      expect.stringContaining('image_url'),
      expect.stringContaining('image_url'),
    ]);
  });

  it('that was left out is text to pods that do not know the mark', async () => {
    const world = worldOn(model);
    const pod = await openDoors(world);
    await DOORS.useChat(pod, PHOTO);
    const { messages } = await world.backend.conversations.read({
      ...world.conversation,
      conversationId: 'c1',
    });
    for (const message of messages)
      expect(modelMessageSchema.safeParse(message)).toMatchObject({ success: true });
  });

  it('of an earlier request of a client that sends its whole history is passed on, too', async () => {
    const pod = await openDoors(worldOn(model), { agents: { helper: { images: TAKES } } });
    await pod.openAi.chat.completions.create({
      model: 'helper',
      messages: [
        { role: 'user', content: [LOOK, { type: 'image_url', image_url: { url: PHOTO } }] },
        { role: 'assistant', content: 'A cat.' },
        { role: 'user', content: 'Which colour?' },
      ],
    });
    expect(asked().at(1)?.content).toEqual([LOOK, { type: 'image_url', image_url: { url: PHOTO } }]);
  });
});
