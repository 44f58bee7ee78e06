/** Two pods in this process that serve AG-UI, with an agent that asks what the words of its message name. */

import { FOR_ALL } from '../../../services/api/src/agents/mcp/visibility.ts';
import type { Tool } from '../../../services/api/src/agents/run/tool.ts';
import { withApproval } from '../../../services/api/src/agents/tools/approvals/gate.ts';
import { agUiRoutes } from '../../../services/api/src/surfaces/ag-ui/routes.ts';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import {
  asking,
  openServedPods,
  pageTool,
  type ServedPods,
  type ServedPodsOptions,
  shortTool,
} from '../protocols/pods.ts';
import { authenticateByName } from '../protocols/served.ts';
import { elicit } from '../turns/setup.ts';

const SOURCE = {
  name: 'pay',
  modelName: 'pay',
  description: 'Pays.',
  inputSchema: {
    type: 'object',
    properties: { amount: { type: 'integer' } },
    required: ['amount'],
  },
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  visibility: FOR_ALL,
};
/** What the tool `pay` has sent. */
export const paid: unknown[] = [];
const pay = withApproval(
  {
    name: 'pay',
    description: 'Pays.',
    inputSchema: SOURCE.inputSchema,
    async call({ beforeDispatch }) {
      const sent = await beforeDispatch();
      paid.push(sent);
      return { type: 'returned', output: `paid ${JSON.stringify(sent)}` };
    },
  },
  {
    policy: { rule: 'always', remember: 'conversation', demands: () => true },
    server: 'bank',
    serverTitle: 'Bank',
    source: SOURCE,
    timeoutSeconds: 600,
  },
);
const TRIP = {
  type: 'object',
  properties: { seat: { type: 'string', enum: ['window', 'aisle'] } },
  required: ['seat'],
} as const;
const TRIP_QUESTION = { mode: 'form', requestedSchema: TRIP, timeoutSeconds: 600 } as const;
/** Lets the tool `wait` go on. */
export const work = { release: (): void => undefined };
const TOOLS: Tool[] = [
  {
    name: 'wait',
    description: 'Waits.',
    inputSchema: { type: 'object' },
    async call() {
      await new Promise<void>((resolve) => {
        work.release = resolve;
      });
      return { type: 'returned', output: 'waited' };
    },
  },
  elicit,
  asking('trip', { ...TRIP_QUESTION, message: 'How do you travel?' }),
  asking('private', { ...TRIP_QUESTION, message: 'In private?', sensitive: true }),
  pageTool,
  shortTool,
  pay,
];
const CALLS: Readonly<Record<string, object>> = {
  text: { name: 'elicit', arguments: { kind: 'text', message: 'Which colour?' } },
  pay: { name: 'pay', arguments: { amount: 7 } },
};

/** The agent makes the calls that the words of its message name, one step for each sentence, and repeats what it heard. */
function line({ userText, results }: Turn): ScriptedReply {
  const steps = userText.split('. ');
  let made = 0;
  for (const words of steps) {
    const names = words.split(' ').filter((word) => TOOLS.some(({ name }) => name === word) || word in CALLS);
    if (results.length === made && names.length > 0)
      return {
        text: `Step ${made}. `,
        calls: names.map((name) => (CALLS[name] ?? { name, arguments: {} }) as never),
      };
    made += names.length;
  }
  return { text: `Heard: ${results.map(({ text }) => text).join(' ') || userText}` };
}

/** How a pod serves AG-UI. */
export const AG_UI_SERVING: Pick<ServedPodsOptions, 'authenticate' | 'surfaceOf'> = {
  authenticate: authenticateByName,
  surfaceOf: ({ engine, turns }, limits) =>
    agUiRoutes({ engine, turns, limits, hopsMax: 5, version: '0.0.0' }),
};

export type AgUiSite = ServedPods;

/** Opens the site. The bearer tokens are those of `authenticateByName`. */
export function openAgUiSite(): Promise<AgUiSite> {
  return openServedPods({ line, pod: { agents: { helper: { tools: TOOLS } } }, ...AG_UI_SERVING });
}
