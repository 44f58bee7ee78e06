import { type SentinelConnectionOptions, SentinelConnector } from 'ioredis';

/**
 * Finds the master through Sentinels, for every connection. ioredis keeps listening for failovers while it searches for
 * the new master, and a failover that is reported during the search ends the connection for good (status `end`). So the
 * listeners of the last connection are closed before the next search begins.
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
