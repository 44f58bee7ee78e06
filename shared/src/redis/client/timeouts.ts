import type { Socket } from 'node:net';
import { Command, Redis } from 'ioredis';

/** The parts of a command of ioredis that its time-out needs. ioredis clears the timer once the command has settled. */
interface TimedCommand {
  readonly isSettled: boolean;
  readonly reject: (error: Error) => void;
  _commandTimeoutTimer?: NodeJS.Timeout;
}

/** The parts of a client of ioredis that the time-out of its socket needs. */
interface TimedClient {
  readonly options: { readonly socketTimeout: number };
  readonly commandQueue: { readonly length: number };
  readonly stream: Socket;
  socketTimeoutTimer?: NodeJS.Timeout | undefined;
  setSocketTimeout(): void;
}

/**
 * Lets commands and sockets of ioredis time out only after what has arrived was read. Timers run before sockets are read: a process
 * that stood still for longer than that time, as on a starved core, would otherwise fail commands whose replies have long been there.
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
          // Something was read.
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
