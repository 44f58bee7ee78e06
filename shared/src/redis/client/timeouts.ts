import type { Socket } from 'node:net';
import { Command, Redis } from 'ioredis';

/** The properties of an ioredis command that its time-out uses. ioredis clears the timer once the command has settled. */
interface TimedCommand {
  readonly isSettled: boolean;
  readonly reject: (error: Error) => void;
  _commandTimeoutTimer?: NodeJS.Timeout;
}

/** The properties of an ioredis client that its socket time-out uses. */
interface TimedClient {
  readonly options: { readonly socketTimeout: number };
  readonly commandQueue: { readonly length: number };
  readonly stream: Socket;
  socketTimeoutTimer?: NodeJS.Timeout | undefined;
  setSocketTimeout(): void;
}

/**
 * Makes commands and sockets of ioredis time out only after received data was read. Node runs timers before it reads sockets. A
 * process that was blocked for longer than the time-out, as on an overloaded core, would otherwise fail commands whose replies
 * have already arrived.
 */
export function readBeforeTimeouts(): void {
  Command.prototype.setTimeout = function (this: TimedCommand, ms: number) {
    this._commandTimeoutTimer ??= setTimeout(() => {
      setImmediate(() => {
        if (!this.isSettled) this.reject(new Error('Command timed out'));
      });
    }, ms);
  };
  Object.assign(Redis.prototype, {
    setSocketTimeout(this: TimedClient) {
      const { stream } = this;
      const ms = this.options.socketTimeout;
      const timer = setTimeout(() => {
        setImmediate(() => {
          // Data was read in this turn, so the timer was replaced.
          if (this.socketTimeoutTimer !== timer) return;
          this.socketTimeoutTimer = undefined;
          stream.destroy(new Error(`Redis has sent nothing for ${ms} ms`));
        });
      }, ms);
      this.socketTimeoutTimer = timer;
      stream.once('data', () => {
        clearTimeout(timer);
        if (this.socketTimeoutTimer !== timer) return;
        this.socketTimeoutTimer = undefined;
        if (this.commandQueue.length > 0) this.setSocketTimeout();
      });
    },
  });
}
