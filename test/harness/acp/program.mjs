/**
 * An ACP agent as a program, made with the stock SDK. It does what the words of its task say, one after the other, and
 * replies with what came back. What it experiences otherwise goes to the file that ACP_LOG names. It takes a question back
 * once there is a file of that name that ends in `.retract`.
 */
import { appendFileSync, existsSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { agent, methods, ndJsonStream } from '@agentclientprotocol/sdk';

const { create } = methods.client.elicitation;
const FORM = {
  type: 'object',
  properties: { city: { type: 'string', title: 'City', minLength: 3 } },
  required: ['city'],
};
const KEY = process.env.ACP_KEY;
const DIFF = { type: 'diff', path: '/tmp/a', oldText: 'a', newText: 'b' };
const OPTIONS = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];
const cancelled = new AbortController();
let modes = {};

function note(text) {
  if (process.env.ACP_LOG !== undefined) appendFileSync(process.env.ACP_LOG, `${text}\n`);
}

/** Asks for permission to make a call. */
const permission =
  (call) =>
  ({ client, sessionId }) =>
    client.request(methods.client.session.requestPermission, {
      sessionId,
      toolCall: { toolCallId: 'call', ...call },
      options: OPTIONS,
    });
const nested = { type: 'object', properties: { in: { type: 'object', properties: {} } } };
const password = { type: 'object', properties: { password: { type: 'string' } } };

let deep = [];
for (let level = 0; level < 1_500; level += 1) deep = [deep];

const WORDS = {
  insist: async ({ ask }) => {
    for (;;)
      await ask({ mode: 'form', message: 'Log in.', requestedSchema: password }).catch(() => undefined);
  },
  deep: permission({ title: 'Write', rawInput: { deep } }),
  environment: () => process.env,
  modes: () => modes,
  form: ({ ask }) => ask({ mode: 'form', message: 'Where to?', requestedSchema: FORM }),
  url: ({ ask }) =>
    ask({ mode: 'url', message: 'Read it.', url: 'https://terms.example/', elicitationId: 'one' }),
  unknown: ({ ask }) => ask({ mode: '_dance', message: 'Dance?' }),
  modeless: ({ ask }) => ask({ message: 'Which?', requestedSchema: FORM }),
  nested: ({ ask }) => ask({ mode: 'form', message: 'Nested?', requestedSchema: nested }),
  secret: ({ ask }) => ask({ mode: 'form', message: 'Log in.', requestedSchema: password }),
  foreign: ({ ask }) =>
    ask({ mode: 'form', message: 'Where to?', requestedSchema: FORM, sessionId: 'another' }),
  retract: async ({ client, sessionId }) => {
    const taken = new AbortController();
    const request = client.request(
      create,
      { sessionId, mode: 'form', message: 'Never mind?', requestedSchema: FORM },
      { cancellationSignal: taken.signal },
    );
    const timer = setInterval(() => {
      if (!existsSync(`${process.env.ACP_LOG}.retract`)) return;
      clearInterval(timer);
      taken.abort();
    }, 50);
    return request;
  },
  permit: permission({ title: 'Delete the file', rawInput: { path: '/tmp/a' } }),
  leak: permission({ title: `Send ${KEY}`, rawInput: { header: `Bearer ${KEY}`, [KEY]: 1 } }),
  leakForm: ({ ask }) => {
    const city = { ...FORM.properties.city, description: KEY };
    return ask({
      mode: 'form',
      message: `Is ${KEY} right?`,
      requestedSchema: { ...FORM, properties: { city } },
    });
  },
  leakUrl: ({ ask }) =>
    ask({ mode: 'url', message: 'Read it.', url: `https://terms.example/?key=${KEY}`, elicitationId: 'two' }),
  long: permission({ title: 'Write', rawInput: { text: 'x'.repeat(5_000) } }),
  diff: permission({ title: 'Edit', content: [DIFF] }),
  wait: () =>
    new Promise((resolve) => cancelled.signal.addEventListener('abort', () => resolve('cancelled'))),
  crash: () => process.exit(3),
};

agent({ name: 'program' })
  .onRequest(methods.agent.initialize, ({ params }) => {
    modes = params.clientCapabilities?.elicitation ?? {};
    return { protocolVersion: Number(process.argv[2] ?? 1), agentCapabilities: {} };
  })
  .onRequest(methods.agent.session.new, ({ params }) => ({ sessionId: `session in ${params.cwd}` }))
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const { sessionId } = params;
    const ask = (question) => client.request(create, { sessionId, ...question });
    const words = params.prompt[0].text.split(' ');
    note(`prompt ${words.join(' ')}`);
    for (const word of words) {
      let result;
      try {
        result = await WORDS[word]({ client, sessionId, ask });
      } catch (error) {
        result = { error: error.code };
      }
      note(`${word} ${JSON.stringify(result)}`);
      const text = `${word}=${JSON.stringify(result)}; `;
      const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
      await client.notify(methods.client.session.update, { sessionId, update });
    }
    return { stopReason: cancelled.signal.aborted ? 'cancelled' : 'end_turn' };
  })
  .onNotification(methods.agent.session.cancel, () => {
    note('cancel');
    cancelled.abort();
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
