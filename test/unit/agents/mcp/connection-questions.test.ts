import type { ClientContext } from '@modelcontextprotocol/client';
import { expect, it, vi } from 'vitest';
import type { McpAsker } from '../../../../services/api/src/agents/mcp/questions/asker.ts';
import { createConnectionQuestions } from '../../../../services/api/src/agents/mcp/questions/connection-questions.ts';
import { startExchange } from '../../../../services/api/src/agents/mcp/transports/exchange.ts';

const context = {} as ClientContext;
const question = { jsonrpc: '2.0', id: 1, method: 'elicitation/create' } as const;

it('a connection may ask a little after each call, and is reported once when it asks without end', async () => {
  const onEndless = vi.fn();
  const questions = createConnectionQuestions({
    modes: { form: true, url: true },
    progressMs: 1_000,
    onEndless,
  });
  const exchange = startExchange({ timeoutMs: 60_000 });
  const isRefused = () =>
    expect(questions.onRequest(question, context)).rejects.toThrow(/No call is under way/);
  for (let call = 0; call < 150; call += 1) {
    await questions.during({ asker: {} as McpAsker, exchange }, async () => undefined);
    await isRefused();
  }
  expect(onEndless).not.toHaveBeenCalled();
  for (let at = 0; at < 150; at += 1) await isRefused();
  expect(onEndless).toHaveBeenCalledOnce();
  exchange.end();
});
