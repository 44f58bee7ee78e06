import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { McpServerRef } from '../../../../services/api/src/agents/mcp/calls/mcp-tools.ts';
import type { WantedResources } from '../../../../services/api/src/agents/mcp/calls/watch.ts';
import { watchWhileConnected } from '../../../../services/api/src/agents/tools/passthrough/personal-watch.ts';
import type { PersonalService } from '../../../../services/api/src/agents/tools/personal-service.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('resources are watched with an account until its person disconnects it', async () => {
  let isConnected = true;
  const server = {
    watch: (_wanted: WantedResources, signal: AbortSignal) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => resolve({ type: 'interrupted' }), { once: true }),
      ),
  } as McpServerRef;
  let looks = 0;
  const read: PersonalService['read'] = async (run) => {
    looks += 1;
    return isConnected ? run(server) : undefined;
  };
  const ended = watchWhileConnected({ read }, {} as WantedResources, new AbortController().signal);
  await vi.advanceTimersByTimeAsync(300_000);
  expect(await Promise.race([ended, 'watching'])).toBe('watching');
  isConnected = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await Promise.race([ended, 'watching'])).toEqual({ type: 'interrupted' });
  const before = looks;
  await vi.advanceTimersByTimeAsync(300_000);
  expect(looks).toBe(before);
});
