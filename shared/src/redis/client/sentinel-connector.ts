import { type SentinelConnectionOptions, SentinelConnector } from 'ioredis';

/**
 * Finds the master through Sentinels, again and again. ioredis goes on listening for failovers while it looks for the
 * new master; one that it hears of just then makes it give up for good (status `end`), as if it had been told to
 * leave. So whatever listens for the last connection is let go before the next is looked for.
 */
export class PersistentSentinelConnector extends SentinelConnector {
  // ioredis hands its connectors the options of the connection and calls them unknown.
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions);
  }

  override connect(
    ...args: Parameters<SentinelConnector['connect']>
  ): ReturnType<SentinelConnector['connect']> {
    this.disconnect();
    return super.connect(...args);
  }
}
