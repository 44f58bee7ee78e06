import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';

/** A model that is silent for this long, in ms, counts as thinking. */
const SILENT_MS = 5_000;

/**
 * Tells readers of a turn that its model is thinking: it is reasoning, or is silent. The content of the reasoning is not shown.
 */
export interface Thinking {
  /** The model is reasoning. */
  reasons(): Promise<void>;
  /** The model has produced output that readers get. */
  says(): Promise<void>;
  /** The reply has ended or broken off. */
  end(): Promise<void>;
}

/** Starts when the model is called. `block` is the prefix of the events' ids. */
export function startThinking(block: string, append: (event: TurnEvent) => Promise<void>): Thinking {
  let blocks = 0;
  let open: string | undefined;
  // If this append fails, the next append of the reply reports the error.
  const silence = setTimeout(() => void begin().catch(() => undefined), SILENT_MS);

  async function begin(): Promise<void> {
    if (open !== undefined) return;
    open = `${block}.thinking-${blocks}`;
    blocks += 1;
    await append({ type: 'thinking-started', block: open });
  }

  async function finish(): Promise<void> {
    const thought = open;
    open = undefined;
    if (thought !== undefined) await append({ type: 'thinking-finished', block: thought });
  }

  return {
    reasons: begin,
    says() {
      silence.refresh();
      return finish();
    },
    end() {
      clearTimeout(silence);
      return finish();
    },
  };
}
