import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { ScriptedReply, Turn } from '../../stand-ins/scripted-model/script.ts';
import { listenOnFreePort } from '../harness/free-port.ts';
import { ELICIT_FORM } from './fixture-tasks.ts';

/** When calls become tasks of the agents that have the names of those tools of the kit that ask. The agents ask by `elicit`. */
export const ASKING_AGENTS = {
  confirm_delete: { task: 'always' },
  multi_input: { task: 'always' },
  test_tool_with_task: { task: 'required', taskAfterMs: 4_000 },
};
// Longer than a request waits.
const AFTER_ANSWER_SECONDS = 6;

/** What the model of these agents says; their instructions are their names. */
export function askingLine({ system, results }: Turn): ScriptedReply {
  const elicit = (message: string) => ({
    name: 'elicit',
    arguments: { kind: 'form', message, schema: ELICIT_FORM },
  });
  if (results.length === 0)
    return { calls: (system.includes('multi_input') ? ['Who?', 'Sure?'] : ['Sure?']).map(elicit) };
  if (system.includes('test_tool_with_task') && results.length === 1)
    return {
      calls: [{ name: 'fixture__slow_compute', arguments: { seconds: AFTER_ANSWER_SECONDS, label: 'it' } }],
    };
  return { text: `Heard ${results.map(({ text }) => text).join(' and ')}.` };
}

/**
 * Stands between the kit and the pods: an agent takes one argument, a message, and the kit sends those that it knows. Its client's
 * model would write the message from the schema of the tool.
 */
export async function startMessageWriter(target: string) {
  async function forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = incoming.headers;
    const gone = new AbortController();
    outgoing.on('close', () => gone.abort());
    const reply = await fetch(`${target}${incoming.url}`, {
      method: incoming.method ?? 'POST',
      headers: headers as Record<string, string>,
      ...(incoming.method === 'POST' && { body: withMessage(await text(incoming)) }),
      signal: gone.signal,
    });
    outgoing.writeHead(reply.status, Object.fromEntries(reply.headers));
    if (reply.body === null) outgoing.end();
    else await pipeline(reply.body, outgoing);
  }

  // The kit may end a request before its reply, and a pod may break one off.
  const server = createServer((...of) => void forward(...of).catch(() => of[1].destroy()));
  const port = await listenOnFreePort(server);
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function withMessage(body: string): string {
  const request = JSON.parse(body) as { method?: string; params?: { name?: string; arguments?: unknown } };
  const { method, params } = request;
  if (method !== 'tools/call' || !((params?.name ?? '') in ASKING_AGENTS)) return body;
  const message = JSON.stringify(params?.arguments);
  return JSON.stringify({ ...request, params: { ...params, arguments: { message } } });
}
