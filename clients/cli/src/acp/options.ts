import type { RetryOptions, TokenSource } from '@parley/sdk';

export interface AcpAgentOptions {
  /** URL of Parley, with its path if it has one. */
  readonly baseUrl: string;
  /** The token of the person at the editor, in whose name every call is made. */
  readonly token: TokenSource;
  /** The agent to talk to; the server's default agent when absent. */
  readonly agent?: string;
  readonly version: string;
  /**
   * Writes a line for the operator, not to standard output, which belongs to the protocol. The lines contain no texts or
   * answers.
   */
  readonly log: (line: string) => void;
  /** The retry options of the SDK's chat transport. */
  readonly retry?: Pick<RetryOptions, 'giveUpMs' | 'firstDelayMs' | 'delayMsMax' | 'attemptMs'>;
  /** @default the global `fetch` */
  readonly fetch?: typeof fetch;
}
