import { z } from 'zod';
import type { Admission } from './gate.ts';
import type { Execution } from './store.ts';

/** The requests that have reached the MCP endpoint so far. */
export interface TrackerCounts {
  readonly requests: number;
  /** Requests without a bearer token. */
  readonly withoutToken: number;
  /** Replies with 401, for any reason. */
  readonly unauthorized: number;
  /** JSON-RPC messages in admitted requests, by method. */
  readonly methods: Readonly<Record<string, number>>;
  /** Admitted tool calls, by tool, including those hit by a fault. */
  readonly tools: Readonly<Record<string, number>>;
  /** Changes made, by tool. */
  readonly executed: Readonly<Record<string, number>>;
  /** Issues for which the same person had already created one with the same title and body. */
  readonly repeated: number;
}

export interface Tally {
  noteRequest(kind: Admission['kind']): void;
  noteUnauthorized(): void;
  /** Counts the JSON-RPC messages in an admitted request. */
  noteBody(body: unknown): void;
  noteExecution(execution: Execution): void;
  counts(): TrackerCounts;
  readonly executions: readonly Execution[];
}

export function createTally(): Tally {
  const executions: Execution[] = [];
  const created = new Set<string>();
  const methods = new Map<string, number>();
  const tools = new Map<string, number>();
  const executed = new Map<string, number>();
  let requests = 0;
  let withoutToken = 0;
  let unauthorized = 0;
  let repeated = 0;
  return {
    executions,
    noteRequest(kind) {
      requests += 1;
      if (kind === 'no-token') withoutToken += 1;
      if (kind === 'no-token' || kind === 'bad-token') unauthorized += 1;
    },
    noteUnauthorized() {
      unauthorized += 1;
    },
    noteBody(body) {
      for (const { method, params } of messagesOf(body)) {
        add(methods, method);
        if (method === 'tools/call' && params?.name !== undefined) add(tools, params.name);
      }
    },
    noteExecution(execution) {
      executions.push(execution);
      add(executed, execution.tool);
      if (execution.tool !== 'create_issue') return;
      const { title, body } = execution.arguments;
      const key = JSON.stringify([execution.subject, title, body]);
      if (created.has(key)) repeated += 1;
      created.add(key);
    },
    counts: () => ({
      requests,
      withoutToken,
      unauthorized,
      methods: Object.fromEntries(methods),
      tools: Object.fromEntries(tools),
      executed: Object.fromEntries(executed),
      repeated,
    }),
  };
}

const RpcRequest = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.looseObject({ name: z.string().optional() }).optional(),
});
export type RpcRequest = z.infer<typeof RpcRequest>;

/** The JSON-RPC requests and notifications in a body. Replies and invalid messages are ignored. */
export function messagesOf(body: unknown): RpcRequest[] {
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  return messages.flatMap((message) => RpcRequest.safeParse(message).data ?? []);
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
