import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WantedResources } from '../../../../services/api/src/agents/mcp/calls/watch.ts';
import {
  createResourceWatches,
  type WatchedServer,
} from '../../../../services/api/src/agents/tools/passthrough/resource-watches.ts';

const WAITING = new AbortController().signal;
const BROKEN = { type: 'interrupted' } as const;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A server that takes a moment to agree, until its connection is broken. */
function server(agreeMs = 10) {
  let breaking = new AbortController();
  let current: WantedResources | undefined;
  const refusing = new Set<string>();
  const agreed = new Set<string>();
  const watch: WatchedServer['watch'] = async (wanted) => {
    breaking = new AbortController();
    const { signal } = breaking;
    current = wanted;
    agreed.clear();
    for (;;) {
      const uris = wanted.uris();
      if (uris.size === 0 || signal.aborted) return BROKEN;
      await new Promise((resolve) => setTimeout(resolve, agreeMs));
      for (const uri of uris) {
        if (agreed.has(uri)) continue;
        if (refusing.has(uri)) wanted.refused(uri, { type: 'refused', message: 'Not now.' });
        else {
          agreed.add(uri);
          wanted.watched(uri);
        }
      }
      await wanted.changed(signal);
    }
  };
  return {
    watched: { key: 'desk', watch },
    refusing,
    change: (uri: string) => current?.updated(uri),
    cut: () => breaking.abort(),
  };
}

describe('watches of resources', () => {
  it('watch a resource that is wanted while the server is told of another one', async () => {
    const { watched } = server();
    const watches = createResourceWatches();
    const first = watches.hold(watched, 'city://a', () => undefined, WAITING);
    await vi.advanceTimersByTimeAsync(5);
    const second = watches.hold(watched, 'city://b', () => undefined, WAITING);
    await vi.advanceTimersByTimeAsync(100);
    expect(await Promise.race([second, 'waiting'])).toMatchObject({ type: 'held' });
    expect(await first).toMatchObject({ type: 'held' });
  });

  it('refuse what no connection of the server lasts long enough for', async () => {
    const watch = vi.fn(async () => BROKEN);
    const held = createResourceWatches().hold({ key: 'desk', watch }, 'city://a', () => undefined, WAITING);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await Promise.race([held, 'waiting'])).toMatchObject({ type: 'unavailable' });
    expect(watch).toHaveBeenCalledTimes(2);
  });

  it('outlive a credential that cannot be read', async () => {
    const watch = async () => {
      throw new Error('The key of the vault is gone.');
    };
    const held = createResourceWatches().hold({ key: 'desk', watch }, 'city://a', () => undefined, WAITING);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await Promise.race([held, 'waiting'])).toMatchObject({ type: 'unavailable' });
  });

  it('ask again for a resource that the server refuses after its connection was replaced', async () => {
    const { watched, refusing, change, cut } = server();
    const listener = vi.fn();
    const held = createResourceWatches().hold(watched, 'city://a', listener, WAITING);
    await vi.advanceTimersByTimeAsync(100);
    expect(await held).toMatchObject({ type: 'held' });
    refusing.add('city://a');
    cut();
    await vi.advanceTimersByTimeAsync(5_000);
    refusing.clear();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(listener).toHaveBeenCalledTimes(1);
    change('city://a');
    expect(listener).toHaveBeenCalledTimes(2);
  });

  it('tell the changes of a server without rest once a second, and the last one', async () => {
    const { watched, change } = server();
    const listener = vi.fn();
    const held = createResourceWatches().hold(watched, 'city://a', listener, WAITING);
    await vi.advanceTimersByTimeAsync(100);
    await held;
    for (let changes = 0; changes < 10_000; changes += 1) change('city://a');
    expect(listener).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(listener).toHaveBeenCalledTimes(2);
  });
});
