import { createServer, type ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { Model } from '../../../services/api/src/agents/config/models.ts';
import { createChatEvents } from '../../../services/api/src/agents/loop/model/chat-events.ts';
import { createLanguageModel } from '../../../services/api/src/agents/loop/model/language-model.ts';
import { modelStep } from '../../../services/api/src/agents/loop/model-step.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';

const text = (content: string) => ({
  id: 'r',
  choices: [{ index: 0, delta: { role: 'assistant', content } }],
});
const END = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
const USAGE = { usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } };

/** A model that writes its replies with `write`, and how often it was asked. */
async function startModel(write: (res: ServerResponse, send: (...chunks: object[]) => void) => void) {
  let requests = 0;
  const server = createServer((_req, res) => {
    requests += 1;
    write(res, (...chunks) => {
      if (!res.headersSent) res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const chunk of chunks)
        res.write(
          `data: ${JSON.stringify({ id: 'r', created: 1, model: 'm', object: 'chat.completion.chunk', ...chunk })}\n\n`,
        );
    });
  });
  const baseUrl = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl, requests: () => requests };
}

/** One step of the model at this address. */
function stepAt(baseUrl: string, timeouts = {}) {
  const model = Model.parse({ provider: 'openai-compatible', baseUrl, model: 'm', timeouts });
  return modelStep({
    model: createLanguageModel({ ...model, id: 'm' }, { secretOf: () => '', usesProxy: false }),
    instructions: '',
    messages: [{ role: 'user', content: 'Hello?' }],
    tools: [],
    settings: {},
    block: '0',
    appendEvent: async () => undefined,
    signal: new AbortController().signal,
  });
}

it.each<[string, object[], object]>([
  ['without a finish_reason', [text('Yes.')], {}],
  [
    'with usage in a chunk that has no choices',
    [text('Yes.'), END, USAGE],
    { inputTokens: 7, outputTokens: 3 },
  ],
  [
    'with usage in a chunk whose choices are empty',
    [text('Yes.'), END, { ...USAGE, choices: [] }],
    { inputTokens: 7, outputTokens: 3 },
  ],
  [
    'with usage in a chunk whose choices are null',
    [text('Yes.'), END, { ...USAGE, choices: null }],
    { inputTokens: 7, outputTokens: 3 },
  ],
  ['with a chunk of nothing but an id', [text('Yes.'), {}, END], {}],
])('a reply that ends %s is whole', async (_what, chunks, tokens) => {
  const { baseUrl } = await startModel((res, send) => {
    send(...chunks);
    res.end('data: [DONE]\n\n');
  });
  const { record } = await stepAt(baseUrl);
  expect(record).toMatchObject({
    messages: [{ role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] }],
    ...tokens,
  });
});

it('a reply is read whole wherever its bytes are divided', async () => {
  const said = 'Grüße \u{1f600}, "finish_reason": "none"';
  const { baseUrl } = await startModel((res) => {
    const bytes = Buffer.from(`data: ${JSON.stringify(text(said))}\n\ndata: {"usage":null}\n\ndata: [DONE]`);
    const events = createChatEvents();
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(Buffer.concat([...[...bytes].map((byte) => events.push(Buffer.of(byte))), events.end()]));
  });
  const { record } = await stepAt(baseUrl);
  expect(record.messages).toMatchObject([{ content: [{ type: 'text', text: said }] }]);
});

it('a reply that ends without [DONE] and without a finish_reason has broken off', async () => {
  const { baseUrl } = await startModel((res, send) => {
    send(text('Y'));
    res.end();
  });
  await expect(stepAt(baseUrl)).rejects.toThrow('The model could not answer');
});

it.each([{}, { choices: null }])('an error within the stream ends the step: %j', async (chunk) => {
  const { baseUrl } = await startModel((res, send) => {
    send(text('Y'), { ...chunk, error: { message: 'overloaded' } }, END);
    res.end();
  });
  await expect(stepAt(baseUrl)).rejects.toThrow('The model could not answer');
});

it.each<[string, object, (res: ServerResponse, send: (...chunks: object[]) => void) => void]>([
  ['sends no headers', { firstByteSeconds: 1 }, () => undefined],
  [
    'sends headers and nothing more',
    { firstByteSeconds: 1 },
    (res) => res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
  ],
  ['falls silent within its reply', { silenceSeconds: 1 }, (_res, send) => send(text('Y'))],
  [
    'never ends',
    { replySeconds: 1 },
    (_res, send) => {
      const timer = setInterval(() => send(text('Y')), 50);
      onTestFinished(() => clearInterval(timer));
    },
  ],
])('a model that %s is left once its time is over, and asked once', async (_what, timeouts, write) => {
  const { baseUrl, requests } = await startModel(write);
  const [name = ''] = Object.keys(timeouts);
  await expect(stepAt(baseUrl, timeouts)).rejects.toThrow(`\`timeouts.${name}\``);
  expect(requests()).toBe(1);
});
