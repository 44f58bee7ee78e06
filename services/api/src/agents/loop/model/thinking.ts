import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';

/** A model that has said nothing for so long, in ms, counts as thinking. */
const SILENT_MS = 5_000;

/** Tells readers of a turn while its model thinks: it reasons, or says nothing. What it thinks stays with the model. */
export interface Thinking {
  /** The model reasons. */
  reasons(): Promise<void>;
  /** The model has said something that readers get. */
  says(): Promise<void>;
  /** The reply has ended, or broken off. */
  end(): Promise<void>;
}

/** Begins when the model is asked. `block` is the prefix of the ids of the events. */
export function startThinking(block: string, append: (event: TurnEvent) => Promise<void>): Thinking {
  let blocks = 0;
  let open: string | undefined;
  // What cannot be appended is reported where the reply goes on.
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
