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
  /** Removes the values of the agent's own environment from what it says. */
  readonly scrub: Scrub;
  /** Closes the input, then kills. Resolves when the process and its children have ended. */
  end(): Promise<void>;
}

/** The processes of ACP agents on this pod. None outlives the pod. */
export interface AcpProcesses {
  /** Starts a process, or returns undefined when as many as may run already do. Rejects when it cannot be started. */
  start(agent: AcpAgentTarget): Promise<AcpProcess | undefined>;
  close(): Promise<void>;
}

const KILL_GRACE_MS = 2_000;

export function createAcpProcesses(options: {
  /** Called with each line that an agent writes to stderr, without its secrets. */
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

/** `PATH` and the like are no secrets, and occur in ordinary text. */
function secretIn([name, value]: readonly [string, string]): string[] {
  return /^(?:PATH|HOME|LANG|TZ|TMPDIR|USER)$/.test(name) ? [] : [value];
}
