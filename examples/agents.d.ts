/**
 * The parts of packages that the examples for agent frameworks use and that this repository does not install, so that `npm run
 * check` sees what they do with Parley. `npm run soak` installs the packages, and checks each example with their own types.
 */

declare module '@anthropic-ai/claude-agent-sdk' {
  export type CanUseTool = (
    toolName: string,
    input: Record<string, unknown>,
    options: { signal: AbortSignal; toolUseID: string },
  ) => Promise<{ behavior: 'allow'; updatedInput: object } | { behavior: 'deny'; message: string }>;
  interface Result {
    type: 'result';
    subtype: 'success';
    result: string;
  }
  export function query(call: {
    prompt: string;
    options: { canUseTool: CanUseTool; permissionMode: 'default'; settingSources: [] };
  }): AsyncIterable<Result | { type: 'assistant' }>;
}

declare module '@mastra/core' {
  export class Mastra {
    constructor(options: {
      workflows: { refund: import('@mastra/core/workflows').Workflow };
      storage: object;
      logger: false;
    });
    getWorkflow(name: 'refund'): import('@mastra/core/workflows').Workflow;
  }
}
declare module '@mastra/core/workflows' {
  interface Schema<Value = unknown> {
    parse(value: unknown): Value;
  }
  interface Step<Output extends Schema = Schema> {
    readonly outputSchema: Output;
  }
  interface StepState {
    readonly status: string;
    readonly suspendPayload?: { readonly elicitationId: string };
  }
  interface Run {
    start(call: { inputData: object }): Promise<object>;
    resume(call: { step: string; resumeData: object }): Promise<object>;
  }
  export interface Workflow {
    then(step: Step): Workflow;
    commit(): Workflow;
    createRun(options: { runId: string }): Promise<Run>;
    getWorkflowRunById(
      runId: string,
    ): Promise<{ steps?: Readonly<Record<string, StepState | StepState[]>> } | null>;
  }
  export function createWorkflow(options: {
    id: string;
    inputSchema: Schema;
    outputSchema: Schema;
  }): Workflow;
  export function createStep<Input, Output extends Schema, Suspended, Resumed>(options: {
    id: string;
    inputSchema: Schema<Input>;
    outputSchema: Output;
    suspendSchema?: Schema<Suspended>;
    resumeSchema?: Schema<Resumed>;
    execute(call: {
      inputData: Input;
      resumeData?: Resumed;
      suspend(payload: Suspended): Promise<void>;
      runId: string;
    }): Promise<unknown>;
  }): Step<Output>;
}
declare module '@mastra/libsql' {
  export class LibSQLStore {
    constructor(options: { id: string; url: string });
  }
}

declare module '@temporalio/activity' {
  export function activityInfo(): { workflowExecution?: { runId: string }; activityId: string };
  export const Context: { current(): { cancellationSignal: AbortSignal; heartbeat(): void } };
}
declare module '@temporalio/client' {
  export const Connection: { connect(options: { address: string }): Promise<object> };
  export class Client {
    constructor(options: { connection: object });
    readonly workflow: {
      execute<Args extends unknown[], Value>(
        workflow: (...args: Args) => Promise<Value>,
        options: { taskQueue: string; workflowId: string; args: Args },
      ): Promise<Value>;
    };
  }
}
declare module '@temporalio/testing' {
  export class MockActivityEnvironment {
    constructor(info: object);
    run<Args extends unknown[], Value>(
      activity: (...args: Args) => Promise<Value>,
      ...args: Args
    ): Promise<Value>;
  }
}
declare module '@temporalio/worker';
declare module '@temporalio/workflow' {
  export function proxyActivities<Activities>(options: object): Activities;
}

declare module 'nitro' {
  export function defineConfig(config: object): object;
  export function defineHandler(handler: (event: { req: Request }) => unknown): object;
  export function definePlugin(plugin: () => void): object;
}
declare module 'workflow';
declare module 'workflow/api';
declare module 'workflow/runtime';
