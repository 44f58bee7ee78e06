/**
 * Runs one task in an ACP agent's process, from the handshake to the end. Starting processes is in `programs.ts`, questions are
 * in `questions.ts`.
 */

import type {
  InitializeResponse,
  NewSessionResponse,
  PromptResponse,
  StopReason,
} from '@agentclientprotocol/sdk';
import { whenAborted } from '@parley/shared/async/release-on-abort';
import { startWorkClock } from '@parley/shared/async/work-clock';
import { limitDepth } from '@parley/shared/domain/json/depth';
import { QuestionRefused } from '../mcp/questions/question.ts';
import { raceAbort } from '../mcp/transports/exchange.ts';
import { createLineReader } from '../mcp/transports/lines.ts';
import type { RemoteTaskRules } from '../remote/result.ts';
import { failed, type ToolCall, type ToolOutcome } from '../run/tool.ts';
import type { AcpAgentTarget } from './acp-agent.ts';
import type { AcpProcess, AcpProcesses } from './programs.ts';
import { createTaskQuestions, type TaskQuestions } from './questions.ts';

const MESSAGE_BYTES_MAX = 8_000_000;
const TEXT_LENGTH_MAX = 200_000;
/** How long an agent may take to end a cancelled task before its process is killed, in ms. */
const CANCEL_GRACE_MS = 2_000;

interface AcpTask {
  readonly processes: AcpProcesses;
  readonly agent: AcpAgentTarget;
  readonly rules: RemoteTaskRules;
}

/**
 * Gives a task to an ACP agent, in a process and session of its own. The call is recorded as dispatched before the prompt is
 * sent, so no other pod sends it again. Rejects only with the reason of the call's signal.
 */
export async function runAcpTask(
  { processes, agent, rules }: AcpTask,
  call: ToolCall,
  task: string,
): Promise<ToolOutcome> {
  call.signal.throwIfAborted();
  const clock = startWorkClock(agent.taskMs);
  const endless = new AbortController();
  const over = AbortSignal.any([call.signal, clock.over, endless.signal]);
  const ending = new AbortController();
  let process: AcpProcess | undefined;
  try {
    process = await processes.start(agent);
    if (process === undefined) return failed(`${agent.title} is busy with other tasks. Nothing was done.`);
    const questions = createTaskQuestions(call, {
      agent,
      ...rules,
      waiting: clock.waiting,
      over: AbortSignal.any([over, ending.signal]),
      onEndless: () => endless.abort(),
      scrub: process.scrub,
    });
    return await converse({ agent, process, questions, call, task, over });
  } catch (error) {
    call.signal.throwIfAborted();
    if (clock.over.aborted)
      return failed(`${agent.title} did not finish in time. The task may have been done in part.`);
    if (endless.signal.aborted)
      return failed(
        `${agent.title} did not stop asking, so the task was ended. It may have been done in part.`,
      );
    return failed(`${agent.title} failed: ${describeFault(error)}`);
  } finally {
    ending.abort();
    clock.stop();
    await process?.end();
  }
}

interface TaskConversation {
  readonly agent: AcpAgentTarget;
  readonly process: AcpProcess;
  readonly questions: TaskQuestions;
  readonly call: ToolCall;
  readonly task: string;
  /** Aborted when the task must end. */
  readonly over: AbortSignal;
}

async function converse(conversation: TaskConversation): Promise<ToolOutcome> {
  const { agent, process, questions, call, task, over } = conversation;
  // The SDK is loaded by the first task. Pods without ACP agents never load it.
  const { client, methods, ndJsonStream, PROTOCOL_VERSION, RequestError } = await import(
    '@agentclientprotocol/sdk'
  );
  const text = createReply();
  let session: string | undefined;
  // A process has only one session, so a request that names another session is refused.
  const isForeign = (params: object) => 'sessionId' in params && params.sessionId !== session;
  const app = client({ name: 'parley' })
    .onRequest(methods.client.elicitation.create, async ({ params, signal }) => {
      if (isForeign(params)) throw RequestError.invalidParams(undefined, 'There is no such session.');
      try {
        return await questions.elicit(params, signal);
      } catch (error) {
        if (error instanceof QuestionRefused) throw RequestError.invalidParams(undefined, error.message);
        throw RequestError.internalError();
      }
    })
    .onRequest(methods.client.session.requestPermission, ({ params, signal }) => {
      if (isForeign(params)) throw RequestError.invalidParams(undefined, 'There is no such session.');
      return questions.permit(params, signal);
    })
    // Consent to open a page already settled its question, so this notice of the page's end changes nothing.
    .onNotification(methods.client.elicitation.complete, () => undefined)
    .onNotification(methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
        text.add(update.content.text);
    });
  const stream = ndJsonStream(process.input, process.output.pipeThrough(limitedLines()), {
    maxMessageBytes: MESSAGE_BYTES_MAX,
  });
  const connection = app.connect(stream);
  const { agent: peer } = connection;
  try {
    const { form, url } = questions.modes;
    const started: InitializeResponse = await raceAbort(
      { signal: over },
      peer.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientInfo: { name: 'parley', version: '1' },
        clientCapabilities: { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } },
      }),
    );
    if (started.protocolVersion !== PROTOCOL_VERSION)
      return failed(`${agent.title} speaks another version of ACP. Nothing was done.`);
    const { cwd } = agent.program;
    const opened: NewSessionResponse = await raceAbort(
      { signal: over },
      peer.request(methods.agent.session.new, { cwd, mcpServers: [] }),
    );
    const { sessionId } = opened;
    session = sessionId;
    await call.beforeDispatch();
    over.throwIfAborted();
    const prompt = [{ type: 'text' as const, text: task }];
    const done: Promise<PromptResponse> = peer.request(methods.agent.session.prompt, { sessionId, prompt });
    const { stopReason } = await endedPrompt(done, over, () =>
      peer.notify(methods.agent.session.cancel, { sessionId }),
    );
    over.throwIfAborted();
    return outcomeOf(agent.title, stopReason, process.scrub.text(text.read()));
  } finally {
    connection.close();
  }
}

/** Passes messages on, and limits the depth of each. */
function limitedLines(): TransformStream<Uint8Array, Uint8Array> {
  const encoder = new TextEncoder();
  let read: (chunk: Buffer) => void;
  return new TransformStream({
    start(controller) {
      read = createLineReader({
        bytesMax: MESSAGE_BYTES_MAX,
        onLine: (line) => controller.enqueue(encoder.encode(`${limitDepth(line)}\n`)),
        onTooLong: () => controller.error(new Error('The program sent a message that is too large.')),
      });
    },
    transform: (chunk) => read(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
  });
}

/** Waits for the end of the prompt. A task that must end is cancelled first, so that the agent can clean up. */
async function endedPrompt(
  done: Promise<PromptResponse>,
  over: AbortSignal,
  cancel: () => Promise<void>,
): Promise<PromptResponse> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    whenAborted(over, () => {
      cancel().catch(() => undefined);
      timer = setTimeout(() => reject(over.reason), CANCEL_GRACE_MS);
    });
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([done, late]);
  } finally {
    clearTimeout(timer);
  }
}

function createReply() {
  let text = '';
  return {
    add(more: string) {
      if (text.length < TEXT_LENGTH_MAX) text += more.slice(0, TEXT_LENGTH_MAX - text.length);
    },
    read: () => text,
  };
}

const EARLY: Partial<Record<StopReason, string>> = {
  max_tokens: 'reached its limit of tokens',
  max_turn_requests: 'reached its limit of steps',
};

function outcomeOf(title: string, reason: StopReason, text: string): ToolOutcome {
  if (reason === 'refusal') return failed(`${title} refused the task. ${text}`.trim());
  if (reason === 'cancelled') return failed(`${title} cancelled the task; it may have been done in part.`);
  const early = EARLY[reason];
  return { type: 'returned', output: early === undefined ? text : `${text}\n\n(${title} ${early}.)` };
}

/** Errors of programs may repeat their input, so only the kind of the error is passed on. */
function describeFault(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  if (code === 'ENOENT') return 'its program or its working directory does not exist. Nothing was done.';
  if (code === -32000) return 'it requires a sign-in. Nothing was done.';
  if (typeof code === 'number') return `it reported the error ${code}. The task may have been done in part.`;
  return 'its process ended early. The task may have been done in part.';
}
