import { isParleyClientError } from '@parley/core';
import type { TerminalStatus } from '@parley/core/domain/elicitations/status';

/** The exit codes of every command. Scripts rely on them; docs/cli.md lists them. */
export const EXIT = {
  accepted: 0,
  failed: 1,
  usage: 2,
  declined: 3,
  cancelled: 4,
  expired: 5,
  withdrawn: 6,
  /** The server refused the call: token, permission, unknown id, invalid answer. */
  refused: 7,
  /** Parley cannot be reached, or the outcome is unknown. */
  unavailable: 8,
  /** The person opened a page and has not finished it. */
  open: 9,
  /** The person pressed Ctrl+C; shells use the same code. */
  interrupted: 130,
} as const;

type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code for the outcome of a question. */
export function exitCodeOfStatus(status: TerminalStatus): ExitCode {
  return EXIT[status];
}

/** Ends a command with a message and an exit code. The message never contains a token, a secret or an answer. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  readonly code: string;

  constructor(exitCode: ExitCode, code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CliError';
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** A command line that cannot be understood. */
export function usageError(message: string): CliError {
  return new CliError(EXIT.usage, 'usage', message);
}

/** The exit code, the stable code and the message for an error that a command threw. */
export function describeFailure(error: unknown): { exitCode: ExitCode; code: string; message: string } {
  if (error instanceof CliError) return error;
  if (isParleyClientError(error)) {
    const faults = (error.problem?.errors ?? []).map(({ path, message }) => `\n  ${path}: ${message}`);
    const exitCode = error.code === 'unavailable' ? EXIT.unavailable : EXIT.refused;
    return { exitCode, code: error.code, message: `${error.message}${faults.join('')}` };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { exitCode: EXIT.failed, code: 'failed', message };
}
