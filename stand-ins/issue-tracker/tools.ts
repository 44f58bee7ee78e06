/** The tools of the issue tracker, as one person sees them. The HTTP server around them is in `issue-tracker.ts`. */

import { type CallToolResult, McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Execution, IssueStore } from './store.ts';

/** The person that the tools act for, and the store that they change. */
interface ToolDeps {
  readonly store: IssueStore;
  readonly subject: string;
  readonly onExecuted: (execution: Execution) => void;
}

const INFO = { name: 'issue-tracker', title: 'Issue tracker', version: '1.0.0' } as const;
const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false } as const;
const IssueNumber = z.int().positive().describe('The number of the issue');

/** An MCP server with the tracker's tools for one person. */
export function createTrackerServer(deps: ToolDeps): McpServer {
  const server = new McpServer(INFO);
  addReaders(server, deps);
  addWriters(server, deps);
  return server;
}

/** An MCP server with one tool, which always returns this result. */
export function createFixedServer(tool: string, text: string, isError: boolean): McpServer {
  const server = new McpServer(INFO);
  server.registerTool(tool, { inputSchema: z.looseObject({}) }, () => ({
    content: [{ type: 'text', text }],
    isError,
  }));
  return server;
}

function addReaders(server: McpServer, { store, subject }: ToolDeps): void {
  server.registerTool(
    'list_issues',
    {
      title: 'List issues',
      description: 'Lists your issues: the open ones by default.',
      inputSchema: z.object({ state: z.enum(['open', 'closed', 'all']).default('open') }),
      annotations: READS,
    },
    ({ state }) =>
      resultOf({
        issues: store.issuesOf(subject).filter((issue) => state === 'all' || issue.state === state),
      }),
  );
  server.registerTool(
    'get_issue',
    {
      title: 'Read an issue',
      description: 'Gives one of your issues.',
      inputSchema: z.object({ number: IssueNumber }),
      annotations: READS,
    },
    ({ number }) => {
      const issue = store.find(subject, number);
      return issue === undefined ? noSuchIssue(number) : resultOf({ issue });
    },
  );
}

function addWriters(server: McpServer, { store, subject, onExecuted }: ToolDeps): void {
  const executed = (tool: string, given: Execution['arguments'], { mcpReq }: ServerContext) =>
    onExecuted({ subject, tool, arguments: given, meta: { ...mcpReq._meta } });
  server.registerTool(
    'create_issue',
    {
      title: 'Create an issue',
      description: 'Creates an issue of yours.',
      inputSchema: z.object({
        title: z.string().min(1).max(200),
        body: z.string().max(10_000).default(''),
      }),
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
    },
    (given, context) => {
      executed('create_issue', given, context);
      return resultOf({ issue: store.create(subject, given.title, given.body) });
    },
  );
  server.registerTool(
    'close_issue',
    {
      title: 'Close an issue',
      description: 'Closes one of your issues. Closing it again changes nothing.',
      inputSchema: z.object({ number: IssueNumber }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    (given, context) => {
      const issue = store.find(subject, given.number);
      if (issue === undefined) return noSuchIssue(given.number);
      executed('close_issue', given, context);
      return resultOf({ issue: store.close(issue) });
    },
  );
}

function resultOf(payload: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(payload) }], structuredContent: payload };
}

function noSuchIssue(number: number): CallToolResult {
  return { content: [{ type: 'text', text: `There is no issue #${number}.` }], isError: true };
}
