import { setTimeout as sleep } from 'node:timers/promises';
import {
  acceptedContent,
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server';

/** The tools of the kit's scenarios of tasks. They know no tasks: Parley makes their calls tasks. */

const says = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });
/** The fields that the kit answers, whatever it is asked. */
export const ELICIT_FORM = {
  type: 'object',
  properties: { name: { type: 'string' }, confirm: { type: 'boolean' } },
};
const elicit = (message: string) => inputRequired.elicit({ message, requestedSchema: ELICIT_FORM } as never);

interface TaskTool {
  readonly call: (
    args: Record<string, unknown>,
    context: ServerContext,
  ) => Promise<CallToolResult | InputRequiredResult> | CallToolResult | InputRequiredResult;
}

export const TASK_TOOLS: Readonly<Record<string, TaskTool>> = {
  greet: { call: ({ name }) => says(`Hello, ${name}!`) },
  slow_compute: {
    async call({ seconds, label }, { mcpReq }) {
      await sleep(Number(seconds) * 1000, undefined, { signal: mcpReq.signal });
      return says(`Computed ${label}.`);
    },
  },
  failing_job: { call: () => ({ ...says('The job failed.'), isError: true }) },
  protocol_error_job: {
    call() {
      throw new ProtocolError(-32_603, 'The job broke.');
    },
  },
  confirm_delete: {
    call: ({ filename }, { mcpReq }) =>
      mcpReq.inputResponses === undefined
        ? inputRequired({ inputRequests: { sure: elicit(`Delete ${filename}?`) } })
        : says(`Deleted ${filename}.`),
  },
  multi_input: {
    call: (_args, { mcpReq }) =>
      mcpReq.inputResponses === undefined
        ? inputRequired({
            inputRequests: {
              who: elicit('Who?'),
              sure: elicit('Sure?'),
            },
          })
        : says('Done.'),
  },
  test_tool_with_task: {
    async call(_args, { mcpReq }) {
      const name = acceptedContent<{ name: string }>(mcpReq.inputResponses, 'user_name')?.name;
      if (name === undefined)
        return inputRequired({ inputRequests: { user_name: elicit('What is your name?') } });
      await sleep(AFTER_ANSWER_MS, undefined, { signal: mcpReq.signal });
      return says(`Hello, ${name}!`);
    },
  },
};

const ROUND_MS = 1_500;
// Longer than a request waits.
const AFTER_ANSWER_MS = 2_500;

/** What the pods offer of them, by tool: when a call becomes a task. */
export const TASK_RULES = {
  greet: { task: 'never' },
  slow_compute: { taskAfterMs: 300 },
  failing_job: { task: 'required', taskAfterMs: 0 },
  protocol_error_job: { task: 'always' },
  confirm_delete: { task: 'always' },
  multi_input: { task: 'always' },
  test_tool_with_task: { task: 'required', taskAfterMs: ROUND_MS },
};
