/**
 * A remote agent that speaks AG-UI: events of `@ag-ui/core` through the stock `EventEncoder`, as the documentation of AG-UI
 * writes servers. The words of its task say what it does.
 */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BaseEvent, EventType, type Interrupt, type RunAgentInput } from '@ag-ui/core';
import { RunAgentInputSchema } from '@ag-ui/core/schemas';
import { EventEncoder } from '@ag-ui/encoder';
import { listenOnFreePort } from '../free-port.ts';

export interface AgUiServer {
  readonly url: string;
  /** The runs that were posted, in order, by any client. */
  readonly inputs: readonly RunAgentInput[];
  /** Values of `Authorization`. */
  readonly authorizations: readonly (string | undefined)[];
  /** How many runs were closed by their client. */
  readonly closed: number;
  /** How many runs were read to the end of their reply. */
  readonly read: number;
  /** While true, each connection ends before its reply. */
  cut(isCut: boolean): void;
  stop(): Promise<void>;
}

const APPROVAL = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, editedArgs: { type: 'object' }, reason: { type: 'string' } },
  required: ['approved'],
};

/** What a word of a task asks. */
const ASKS: Readonly<Record<string, Omit<Interrupt, 'id'>>> = {
  text: { reason: 'input_required', message: 'Which colour?' },
  form: {
    reason: 'input_required',
    message: 'How do you travel?',
    responseSchema: {
      type: 'object',
      properties: { seat: { type: 'string', enum: ['window', 'aisle'] }, bags: { type: 'integer' } },
      required: ['seat'],
    },
  },
  yes: { reason: 'confirmation', message: 'Sure?', responseSchema: { type: 'boolean' } },
  secret: {
    reason: 'input_required',
    message: 'Log in.',
    responseSchema: { type: 'object', properties: { password: { type: 'string' } }, required: ['password'] },
  },
  pay: { reason: 'tool_call', message: 'May I?', toolCallId: 'call-pay', responseSchema: APPROVAL },
};

/** JSON of lists within lists. */
const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;

/** What a word of a task sends beside questions. */
const SENDS: Readonly<Record<string, readonly object[]>> = {
  state: [
    { type: EventType.STATE_SNAPSHOT, snapshot: { trip: { legs: ['Ghent'] } } },
    { type: EventType.STATE_DELTA, delta: [{ op: 'add', path: '/trip/legs/-', value: 'Bruges' }] },
  ],
  pay: [
    { type: EventType.TOOL_CALL_START, toolCallId: 'call-pay', toolCallName: 'pay', parentMessageId: 'm-1' },
    { type: EventType.TOOL_CALL_ARGS, toolCallId: 'call-pay', delta: '{"amount":7,' },
    { type: EventType.TOOL_CALL_ARGS, toolCallId: 'call-pay', delta: '"password":"hush-hush"}' },
    { type: EventType.TOOL_CALL_END, toolCallId: 'call-pay' },
  ],
  look: [
    { type: EventType.TOOL_CALL_START, toolCallId: 'call-look', toolCallName: 'look' },
    { type: EventType.TOOL_CALL_END, toolCallId: 'call-look' },
  ],
  nested: [
    { type: EventType.TOOL_CALL_START, toolCallId: 'call-nested', toolCallName: 'look' },
    { type: EventType.TOOL_CALL_ARGS, toolCallId: 'call-nested', delta: nested(20_000) },
    { type: EventType.TOOL_CALL_END, toolCallId: 'call-nested' },
  ],
  unknown: [{ type: 'FUTURE_EVENT', anything: 1 }],
  malformed: [{ type: EventType.TEXT_MESSAGE_CONTENT, messageId: 7 }],
  patch: [{ type: EventType.STATE_DELTA, delta: [{ op: 'remove', path: '/nothing' }] }],
  large: [{ type: EventType.TEXT_MESSAGE_CONTENT, messageId: 'm-1', delta: 'x'.repeat(20_000) }],
  expired: [{ type: EventType.RUN_ERROR, message: 'Ask again.', code: 'token_expired' }],
  error: [{ type: EventType.RUN_ERROR, message: 'Sold\u202E out.', code: 'sold_out' }],
};

function* eventsOf(input: RunAgentInput, authorization: string | undefined): Generator<object> {
  const { threadId, runId, resume = [], messages, state } = input;
  const task = messages.find(({ role }) => role === 'user')?.content;
  const words = String(task).split(' ');
  yield { type: EventType.RUN_STARTED, threadId, runId };
  const end = (outcome: object) => ({ type: EventType.RUN_FINISHED, threadId, runId, outcome });
  const say = function* (messageId: string, delta: string) {
    yield { type: EventType.TEXT_MESSAGE_START, messageId, role: 'assistant' };
    yield { type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta };
    yield { type: EventType.TEXT_MESSAGE_END, messageId };
  };
  const round = words.includes('twice') && messages.every(({ id }) => id !== 'm-again') ? 2 : 1;
  if (resume.length > 0 && round === 1) {
    const answers = resume.map(({ status, payload }) => ({
      status,
      ...(payload !== undefined && { payload }),
    }));
    if (messages.some((one) => one.role === 'assistant' && one.toolCalls !== undefined))
      yield {
        type: EventType.TOOL_CALL_RESULT,
        messageId: 'm-result',
        toolCallId: 'call-pay',
        content: 'paid',
      };
    yield* say('m-2', `Heard: ${JSON.stringify(answers)} ${JSON.stringify(state)}`);
    yield end({ type: 'success' });
    return;
  }
  yield* say(
    resume.length > 0 ? 'm-again' : 'm-1',
    words.includes('key') ? `You sent ${authorization}.` : 'On it.',
  );
  for (const word of words) yield* SENDS[word] ?? [];
  if (words.includes('drop') || words.includes('wait')) return;
  const interrupts = words.flatMap((word) => {
    const asked = ASKS[word];
    return asked === undefined ? [] : [{ id: `${word}-${resume.length > 0 ? 2 : 1}`, ...asked }];
  });
  if (words.includes('cancelled')) yield end({ type: 'cancelled' });
  else yield end(interrupts.length > 0 ? { type: 'interrupt', interrupts } : { type: 'success' });
}

/** `repeats`: a run that is posted again sends the same events and does nothing. */
export async function startAgUiServer({ repeats = false } = {}): Promise<AgUiServer> {
  const inputs: RunAgentInput[] = [];
  const authorizations: (string | undefined)[] = [];
  let closed = 0;
  let read = 0;
  let isCut = false;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (isCut) return void response.destroy();
    const { authorization } = request.headers;
    authorizations.push(authorization);
    const input = RunAgentInputSchema.parse(JSON.parse(body)) as RunAgentInput;
    if (!repeats || inputs.every(({ runId }) => runId !== input.runId)) inputs.push(input);
    const encoder = new EventEncoder({ accept: request.headers.accept ?? '' });
    response.on('close', () => {
      if (response.writableFinished) read += 1;
      else closed += 1;
    });
    const words = String(input.messages[0]?.content);
    if (words.startsWith('status ')) return void response.writeHead(Number(words.split(' ')[1])).end();
    response.writeHead(200, { 'content-type': encoder.getContentType() });
    for (const event of eventsOf(input, authorization)) response.write(encoder.encodeSSE(event as BaseEvent));
    // Such as the time in which it stores the thread.
    if (words.includes('late')) await sleep(100);
    if (!words.includes('wait')) response.end();
  });
  const port = await listenOnFreePort(server);
  return {
    url: `http://127.0.0.1:${port}/run`,
    inputs,
    authorizations,
    get closed() {
      return closed;
    },
    get read() {
      return read;
    },
    cut(next) {
      isCut = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
