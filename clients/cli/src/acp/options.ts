import type { RetryOptions, TokenSource } from '@parley/sdk';

export interface AcpAgentOptions {
  /** URL of Parley, with its path if it has one. */
  readonly baseUrl: string;
  /** The token of the person at the editor. Every call is made in their name. */
  readonly token: TokenSource;
  /** The agent to talk with; the server's default one when absent. */
  readonly agent?: string;
  /** Version of this program. */
  readonly version: string;
  /** Writes a line for the operator. Standard output belongs to the protocol. It never gets texts or answers. */
  readonly log: (line: string) => void;
  /** As for the chat transport of the SDK. */
  readonly retry?: Pick<RetryOptions, 'giveUpMs' | 'firstDelayMs' | 'delayMsMax' | 'attemptMs'>;
  /** @default the global one */
  readonly fetch?: typeof fetch;
}
