import { getEventListeners } from 'node:events';
import { releaseOnAbort } from '@parley/shared/async/release-on-abort';
import { expect, it } from 'vitest';
import type { RunContext } from '../../../services/api/src/agents/run/run-context.ts';
import type { Tool } from '../../../services/api/src/agents/run/tool.ts';
import { callTool } from '../../../services/api/src/agents/tools/call-tool.ts';

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

it('a call leaves no listener on the signal of its run, however it ends', async () => {
  const { signal } = new AbortController();
  const nothing = async () => undefined;
  const context = {
    signal,
    id: 'agent',
    run: { streamRequestId: 'sr_1' },
    turn: { idle: { part: () => ({}) }, support: {}, append: nothing },
    writer: { save: nothing, append: nothing },
    clock: {},
    observer: { called: () => undefined },
  } as unknown as RunContext;
  const during: number[] = [];
  const toolThat = (call: Tool['call']): Tool => ({ name: 't', description: '', inputSchema: {}, call });
  const tools = [
    toolThat(async () => {
      during.push(listeners(signal));
      return { type: 'returned', output: 1 };
    }),
    toolThat(() => Promise.reject(new Error('broken'))),
  ];
  for (const tool of tools) {
    const call = { toolCallId: 'c', toolName: 't', modelCallId: 'c', input: {}, at: 0 };
    await callTool(context, [tool], call, 0).catch(() => undefined);
    expect(listeners(signal)).toBe(0);
  }
  expect(during).toEqual([1]);
});

it('what is released before its signal is aborted leaves no listener on it', () => {
  const { signal } = new AbortController();
  let released = 0;
  const release = releaseOnAbort(signal, () => {
    released += 1;
  });
  release();
  release();
  expect([released, listeners(signal)]).toEqual([1, 0]);
});
