import type { Elicitation } from '../elicitation.ts';

/** A field error of the server: `path` is the field's name. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

export interface RefusalParts {
  readonly status: number;
  readonly code: string;
  readonly errors?: readonly FieldError[];
  readonly elicitation?: Elicitation | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/**
 * What Parley refused, or why it could not be asked: `code` is one of Parley's (`invalid_answer`, `already_settled`,
 * `expired`, `not_found`, `unauthenticated`, `rate_limited`, `unavailable`, …), or `offline` with status 0 when no
 * reply came. Its message holds no answer and no token.
 */
export class Refusal extends Error {
  /** HTTP status; 0 when no reply came. */
  readonly status: number;
  readonly code: string;
  /** What is wrong, field by field, for `invalid_answer`. */
  readonly errors: readonly FieldError[];
  /** The elicitation as it is now, where the reply says so. */
  readonly elicitation?: Elicitation;
  readonly retryAfterSeconds?: number;

  constructor(parts: RefusalParts) {
    super(
      `Parley: ${parts.code} (${parts.status})`,
      parts.cause === undefined ? undefined : { cause: parts.cause },
    );
    this.name = 'Refusal';
    this.status = parts.status;
    this.code = parts.code;
    this.errors = parts.errors ?? [];
    if (parts.elicitation !== undefined) this.elicitation = parts.elicitation;
    if (parts.retryAfterSeconds !== undefined) this.retryAfterSeconds = parts.retryAfterSeconds;
  }
}
