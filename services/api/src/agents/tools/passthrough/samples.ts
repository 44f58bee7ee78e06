/**
 * Lets the agent's own model write a text for a server, after an approval. The model call itself is in `loop/model-step.ts`.
 */

import { textOfStep } from '@parley/shared/domain/runs/steps';
import { tokensOfStep } from '@parley/shared/ports/runs/runs';
import { z } from 'zod';
import { ClientRefused } from '../../mcp/questions/client-ask.ts';
import { QuestionRefused } from '../../mcp/questions/question.ts';
import { shownCallId } from '../../run/call-names.ts';
import type { RunContext } from '../../run/run-context.ts';
import { SAMPLING, type SampleForServer, samplingId } from '../../run/sample-request.ts';
import { ModelError } from '../../run/step.ts';
import type { CallEvent } from '../../run/tool.ts';
import { type ApprovalPlace, approveCall } from '../approvals/request.ts';

/** The place of the request: a call of its own on the turn's stream, below the call of the server's tool. */
interface SamplePlace extends Pick<ApprovalPlace, 'step' | 'waiting'> {
  readonly toolCallId: string;
  readonly appendEvent: (event: CallEvent) => Promise<void>;
  /** Counts tokens with the run's next write, however the run ends. */
  readonly spent: (tokens: number) => Promise<void>;
  readonly signal: AbortSignal;
}

const RULE = 'sampling';
/** The specification's code for a client that refuses a sampling. */
const REJECTED = -1;
const INTERNAL_ERROR = -32603;

const Text = z.looseObject({ type: z.literal('text'), text: z.string() });
const Asked = z.looseObject({
  messages: z.array(
    z.looseObject({ role: z.enum(['user', 'assistant']), content: z.union([Text, z.array(Text)]) }),
  ),
  systemPrompt: z.string().default(''),
  maxTokens: z.int().positive(),
  temperature: z.number().optional(),
});

/** The input of the model, which the person approves and may edit first. */
const Shown = z.object({
  system: z.string().optional().describe('What the model is told beforehand.'),
  messages: z
    .array(z.object({ role: z.enum(['user', 'assistant']), text: z.string() }))
    .describe('What the model is given. It gets nothing of the chat.'),
});
const SCHEMA = z.toJSONSchema(Shown) as Readonly<Record<string, unknown>>;

/**
 * Lets the agent's own model write a text for a server, after the person has approved the model's input. The same input at the
 * same ordinal leads to the same approval on every pod. Throws QuestionRefused for input other than text, ClientRefused if
 * there is no result, and the reason of the signal.
 */
export async function sampleForServer(
  context: RunContext,
  { toolCallId: of, step, waiting, appendEvent, spent, signal }: SamplePlace,
  { ordinal, server, params, tokensMax, timeoutSeconds, withdrawn }: SampleForServer,
): Promise<Readonly<Record<string, unknown>>> {
  const { sample, budget, title } = context;
  const asked = Asked.safeParse(params);
  if (!asked.success || sample === undefined)
    throw new QuestionRefused('The model of this agent is given texts alone.');
  const { messages, systemPrompt, maxTokens, temperature } = asked.data;
  const args: z.infer<typeof Shown> = {
    ...(systemPrompt !== '' && { system: systemPrompt }),
    messages: messages.map(({ role, content }) => ({ role, text: textsOf(content) })),
  };
  const toolCallId = samplingId(of, ordinal, args);
  const fail = async (message: string, code: number) => {
    await appendEvent({ type: 'tool-failed', toolCallId, message });
    return new ClientRefused(message, code);
  };
  const { id, title: serverTitle } = server;
  const tool = { server: id, serverTitle, name: SAMPLING, title: `Text for ${serverTitle}` };
  await appendEvent({ type: 'tool-called', toolCallId, toolName: SAMPLING, title: tool.title, input: args });
  const decided = await approveCall(
    context,
    {
      toolCallId,
      shownCallId: shownCallId(context, toolCallId),
      step,
      recorded: undefined,
      requested: undefined,
      isInherited: false,
      save: async () => undefined,
      waiting,
      withdrawn,
    },
    { args, tool, inputSchema: SCHEMA, rule: RULE, remember: undefined, timeoutSeconds },
  );
  if (decided.type === 'refused' && decided.endsTurn === true) context.turn.isLeftByMessage = true;
  if (decided.type === 'refused') throw await fail(decided.message, REJECTED);
  if (budget.isSpent) throw await fail('The turn has used up its tokens.', INTERNAL_ERROR);
  const given = Shown.parse(decided.input);
  try {
    const { record } = await sample(
      {
        system: given.system ?? '',
        messages: given.messages.map(({ role, text }) => ({ role, content: text })),
        maxOutputTokens: Math.max(1, Math.min(maxTokens, tokensMax, budget.left)),
        ...(temperature !== undefined && { temperature }),
        signal: AbortSignal.any([signal, withdrawn]),
      },
      context,
    );
    budget.spend(record);
    await spent(tokensOfStep(record));
    const text = textOfStep(record);
    await appendEvent({ type: 'tool-returned', toolCallId, output: text });
    const stopReason = record.finishReason === 'length' ? 'maxTokens' : 'endTurn';
    return { role: 'assistant', content: { type: 'text', text }, model: title, stopReason };
  } catch (error) {
    if (error instanceof ModelError) throw await fail(error.message, INTERNAL_ERROR);
    if (withdrawn.aborted && !signal.aborted) throw await fail('The request was taken back.', INTERNAL_ERROR);
    throw error;
  }
}

function textsOf(content: z.infer<typeof Asked>['messages'][number]['content']): string {
  return [content]
    .flat()
    .map(({ text }) => text)
    .join('\n');
}
