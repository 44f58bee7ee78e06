/** The schema of MCP servers in the configuration file. Connecting to them is in `agents/mcp`. */

import { z } from 'zod';
import { ApprovalEntry } from '../approval.ts';
import { count, flag, prose, title, token, url } from '../value-types.ts';
import { HTTP_CREDENTIAL, refuseCredential, Scope } from './http-credential.ts';
import { faultOfCommand, PROGRAM } from './program.ts';

const AnnouncedTool = z.strictObject({
  name: token(128, 'The server’s name for the tool.'),
  title: title('Name of the tool for people.').optional(),
  description: prose(4_000, 'Purpose of the tool, for the model.'),
  inputSchema: z
    .looseObject({ type: z.literal('object') })
    .describe('JSON Schema of the arguments, as the server lists it.'),
});

/** How the tools of a server are called, whatever its transport is. */
const CALLS = {
  protocol: z
    .enum(['auto', '2025-11-25', '2026-07-28'])
    .default('auto')
    .describe(
      'The MCP revision in which the server is called. `auto`: 2025-11-25 where the server can ask in it, else 2026-07-28. `2026-07-28`: for a server that asks by `input_required`, whose questions then outlive the pod of the call. `2025-11-25`: that one and those before it.',
    ),
  elicitation: flag(
    true,
    '`false`: the server cannot ask people questions during its calls. `true`: it can (MCP elicitation); each person then has connections of their own, and with `transport: stdio` processes of their own.',
  ),
  sampling: flag(
    false,
    '`true`: the server may have the model of the agent that calls it write texts (MCP sampling), each after the person has approved what the model is given. Needs `elicitation`. A client of MCP that declares sampling is asked instead, whatever this says.',
  ),
  taskTimeoutSeconds: count(
    [3_600, 1, 604_800],
    'How long the server may work on a task that it makes of a call (MCP 2026-07-28). Waits for people do not count.',
  ),
  approval: ApprovalEntry.optional(),
  toolApprovals: z
    .record(token(128, 'The server’s name for the tool.'), ApprovalEntry)
    .default({})
    .describe('As `approval`, for single tools, by the server’s names for them. Wins over `approval`.'),
};

const HttpServer = z
  .strictObject({
    title: title('Name of the service for people.'),
    transport: z.literal('http'),
    url: url('The endpoint (Streamable HTTP).'),
    ...HTTP_CREDENTIAL,
    ...CALLS,
    announcedTools: z
      .array(AnnouncedTool)
      .max(128)
      .default([])
      .describe(
        'With `credentialScope: user`: the tools that the model is offered before the person has connected, because the server is never called without their credential. Absent: one tool that asks the person to connect.',
      ),
  })
  .superRefine((server, context) => {
    const refuse = (key: string, message: string) =>
      context.addIssue({ code: 'custom', path: [key], message });
    refuseCredential(server, context);
    if (server.credentialScope !== 'user' && server.announcedTools.length > 0)
      refuse(
        'announcedTools',
        'is only for `credentialScope: user`; other servers are asked for their tools',
      );
    const announced = server.announcedTools.map(({ name }) => name);
    for (const [index, name] of announced.entries())
      if (announced.indexOf(name) < index)
        context.addIssue({
          code: 'custom',
          path: ['announcedTools', index, 'name'],
          message: 'occurs twice',
        });
  })
  .describe('A server that is called over HTTP.');

const StdioServer = z
  .strictObject({
    title: title('Name of the service for people.'),
    transport: z.literal('stdio'),
    ...PROGRAM,
    credentialScope: Scope.extract(['none', 'project'], {
      error: ({ input }) =>
        input === 'user'
          ? 'cannot be `user` with `transport: stdio`: one process serves all people; use `transport: http`'
          : undefined,
    }).describe('Credential of the process. `none`: none. `project`: one for all people, from `env`.'),
    ...CALLS,
  })
  .superRefine(({ command, env, credentialScope }, context) => {
    const refuse = (key: string, message: string) =>
      context.addIssue({ code: 'custom', path: [key], message });
    const fault = faultOfCommand({ command, env });
    if (fault !== undefined) refuse('command', fault);
    if (credentialScope === 'project' && env.every((name) => name === 'PATH'))
      refuse(
        'env',
        'is required with `credentialScope: project`: it names the variable that holds the credential',
      );
  })
  .describe('A program on the same machine as each pod.');

/** An MCP server whose tools agents may call. */
export const McpServer = z.discriminatedUnion('transport', [HttpServer, StdioServer]);
