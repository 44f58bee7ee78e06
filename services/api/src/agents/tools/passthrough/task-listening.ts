import type { McpServerRef } from '../../mcp/calls/mcp-tools.ts';

/** A task is read at most once in this time, however often its server reports changes, in ms. */
const CHANGED_EVERY_MS = 250;
/** The pause before a broken stream is replaced, in ms. It doubles with each stream that breaks soon. */
const AGAIN_MS = { first: 1_000, most: 30_000 };

/** The server's reports about a task while this pod attends to it. */
export interface TaskListening {
  /** True while the server reports each change. */
  readonly isTold: boolean;
  /** Asks the server to report changes, unless it already does, cannot, or has just failed to. */
  begin(): void;
  end(): void;
}

/** `onChanged` is called when the task should be read: it has changed, or may have changed while no reports arrived. */
export function createTaskListening(
  server: Pick<McpServerRef, 'listenToTask'>,
  taskId: string,
  onChanged: () => void,
): TaskListening {
  const ending = new AbortController();
  let state: 'none' | 'opening' | 'told' | 'absent' = 'none';
  const isTold = () => state === 'told';
  let [changedAt, againAt, breaks] = [Number.NEGATIVE_INFINITY, 0, 0];
  let timer: NodeJS.Timeout | undefined;

  function changed(): void {
    if (timer !== undefined || ending.signal.aborted) return;
    const tell = () => {
      timer = undefined;
      changedAt = performance.now();
      onChanged();
    };
    timer = setTimeout(tell, Math.max(0, changedAt + CHANGED_EVERY_MS - performance.now())).unref();
  }

  async function listen(): Promise<void> {
    state = 'opening';
    const begunAt = performance.now();
    const agreed = () => {
      state = 'told';
      // The server does not report changes that happened before the subscription.
      changed();
    };
    const { type } = await server.listenToTask(taskId, { agreed, changed }, ending.signal);
    const now = performance.now();
    breaks = now - begunAt > AGAIN_MS.most ? 0 : breaks + 1;
    againAt = breaks > 1 ? now + Math.min(AGAIN_MS.first * 2 ** breaks, AGAIN_MS.most) : now;
    if (isTold()) changed();
    state = type === 'absent' ? 'absent' : 'none';
  }

  return {
    get isTold() {
      return isTold();
    },
    begin() {
      if (state === 'none' && performance.now() >= againAt && !ending.signal.aborted) void listen();
    },
    end() {
      ending.abort();
      clearTimeout(timer);
    },
  };
}
