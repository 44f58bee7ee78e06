import { Readable, Writable } from 'node:stream';
import { createScrubFor, type Scrub } from '../mcp/scrub.ts';
import { createChildGuard } from '../mcp/transports/child-guard.ts';
import { endChild, spawnChild } from '../mcp/transports/child-process.ts';
import { createStderrReader } from '../mcp/transports/stderr.ts';
import type { AcpAgentTarget } from './acp-agent.ts';

/** A process of an ACP agent. */
export interface AcpProcess {
  readonly input: WritableStream<Uint8Array>;
  readonly output: ReadableStream<Uint8Array>;
  /** Removes the values of the agent's environment variables from its output. */
  readonly scrub: Scrub;
  /** Closes the input, then kills the process. Resolves when the process and its children have ended. */
  end(): Promise<void>;
}

/** The processes of ACP agents on this pod. They all end before the pod does. */
export interface AcpProcesses {
  /** Starts a process. Returns undefined if the maximum number is already running. Rejects if the process cannot be started. */
  start(agent: AcpAgentTarget): Promise<AcpProcess | undefined>;
  close(): Promise<void>;
}

const KILL_GRACE_MS = 2_000;

export function createAcpProcesses(options: {
  /** Called for each line that an agent writes to stderr, with secrets removed. */
  readonly onStderr: (agent: string, line: string) => void;
}): AcpProcesses {
  const guard = createChildGuard();
  const running = new Map<string, number>();
  const open = new Set<AcpProcess>();
  const count = (id: string, more: number) => running.set(id, (running.get(id) ?? 0) + more);

  return {
    async start({ id, program, tasksMax }) {
      if ((running.get(id) ?? 0) >= tasksMax) return undefined;
      count(id, 1);
      try {
        const child = await spawnChild(program);
        guard.watch(child);
        child.stdin.on('error', () => undefined);
        const scrub = createScrubFor(Object.entries(program.env ?? {}).flatMap(secretIn));
        child.stderr.on(
          'data',
          createStderrReader(scrub, (line) => options.onStderr(id, line)),
        );
        child.once('exit', () => {
          count(id, -1);
          open.delete(process);
        });
        const process: AcpProcess = {
          input: Writable.toWeb(child.stdin),
          output: Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
          scrub,
          end: () => endChild(child, KILL_GRACE_MS),
        };
        open.add(process);
        return process;
      } catch (error) {
        count(id, -1);
        throw error;
      }
    },
    async close() {
      await Promise.all([...open].map((process) => process.end()));
      await guard.close();
    },
  };
}

/** Values of variables such as `PATH` are not secret, and occur in ordinary text. */
function secretIn([name, value]: readonly [string, string]): string[] {
  return /^(?:PATH|HOME|LANG|TZ|TMPDIR|USER)$/.test(name) ? [] : [value];
}
