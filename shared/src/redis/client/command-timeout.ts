import { Command } from 'ioredis';

/** The parts of a command of ioredis that its time-out needs. ioredis clears the timer once the command has settled. */
interface TimedCommand {
  readonly isSettled: boolean;
  readonly reject: (error: Error) => void;
  _commandTimeoutTimer?: NodeJS.Timeout;
}

/**
 * Lets the commands of ioredis time out only after what has arrived was read. Timers run before sockets are read: a process that stood
 * still for longer than a command may take, as on a starved core, would fail commands whose replies have long been there.
 */
export function readBeforeTimeouts(): void {
  Command.prototype.setTimeout = function (this: TimedCommand, ms: number) {
    this._commandTimeoutTimer ??= setTimeout(() => {
      setImmediate(() => {
        if (!this.isSettled) this.reject(new Error('Command timed out'));
      });
    }, ms);
  };
}
