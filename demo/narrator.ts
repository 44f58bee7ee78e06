import type { Service } from './service.ts';

interface LogLine {
  readonly pod?: string;
  readonly msg?: string;
  readonly userId?: string;
  readonly toolName?: string;
  readonly trigger?: string;
}

const EVERY_MS = 200;
const NARRATED = /^elicitation (asked|answered|declined|cancelled|expired|withdrawn)$/;

/** Prints live what the pods and the worker log about people's questions. The returned function stops it. */
export function narrate({ pods, worker }: Service, print: (text: string) => void): () => void {
  const sources = [...pods, ...(worker === undefined ? [] : [worker])].map(({ lines }) => ({
    lines,
    read: 0,
  }));
  const timer = setInterval(() => {
    for (const source of sources) {
      const fresh = source.lines.slice(source.read);
      source.read += fresh.length;
      for (const line of fresh) printEntry(line, print);
    }
  }, EVERY_MS);
  return () => clearInterval(timer);
}

function printEntry(line: string, print: (text: string) => void): void {
  const entry = parsed(line);
  const did = NARRATED.exec(entry?.msg ?? '')?.[1];
  if (entry === undefined || did === undefined) return;
  const about = entry.toolName ?? 'a question of the agent';
  print(`  ${entry.pod}: ${entry.userId} · ${about} · ${did}`);
}

function parsed(line: string): LogLine | undefined {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return undefined;
  }
}
