/**
 * A way for one tool call to fail.
 *
 * | kind | the tool runs | what the caller observes |
 * |---|---|---|
 * | `tool-error` | no | a tool result with `isError` |
 * | `huge` | no | a tool result of that many characters |
 * | `rpc-error` | no | a JSON-RPC error |
 * | `status` | no | that HTTP status; 401 with the challenge of a token that no longer holds |
 * | `hang` | no | silence, until the caller disconnects |
 * | `cut` | no | the connection breaks |
 * | `lost-reply` | yes | the connection breaks before the result |
 */
export type TrackerFault =
  | { readonly kind: 'tool-error'; readonly message?: string }
  | { readonly kind: 'huge'; readonly characters: number }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'rpc-error' | 'hang' | 'cut' | 'lost-reply' };

/** The calls that a fault hits; by default any. */
export interface FaultTarget {
  readonly tool?: string;
  readonly subject?: string;
  /** How many calls it hits; by default 1. */
  readonly times?: number;
}

export interface FaultQueue {
  add(fault: TrackerFault, target?: FaultTarget): void;
  /** Takes the fault for this call, which counts as one use. If several match, takes the one that was added first. */
  take(tool: string, subject: string): TrackerFault | undefined;
}

export function createFaultQueue(): FaultQueue {
  const waiting: { readonly fault: TrackerFault; readonly target: FaultTarget; remaining: number }[] = [];
  return {
    add(fault, target = {}) {
      waiting.push({ fault, target, remaining: target.times ?? 1 });
    },
    take(tool, subject) {
      const at = waiting.findIndex(
        ({ target }) => (target.tool ?? tool) === tool && (target.subject ?? subject) === subject,
      );
      const found = waiting[at];
      if (found === undefined) return undefined;
      found.remaining -= 1;
      if (found.remaining <= 0) waiting.splice(at, 1);
      return found.fault;
    },
  };
}
