import { leavingInTime } from './person.ts';

/** A frame of an event stream: its text, and the position to resume from after it. */
export interface StreamFrame {
  readonly data: string | undefined;
  readonly id: string | undefined;
}

/** An event stream as received on the wire. */
export interface RawStream {
  /** The text so far. */
  text(): string;
  /** The whole frames so far. */
  frames(): StreamFrame[];
  /** Resolves when the server has ended the reply; fails when it broke off. */
  readonly ended: Promise<void>;
  leave(): void;
}

const LINE = /^(?:data: [^\r]*|id: [\w-]+-\d+(?:\.\d{6})?|retry: \d+|: [^\r]*)$/;

/** Reads a reply byte by byte; invalid UTF-8 or an invalid event stream is an error. */
export async function readRaw(url: string, init: RequestInit): Promise<RawStream> {
  const leaving = leavingInTime();
  const response = await fetch(url, { ...init, signal: leaving.signal });
  const type = response.headers.get('content-type');
  if (response.status !== 200 || type?.startsWith('text/event-stream') !== true)
    throw new Error(`no event stream: ${response.status} ${type}`);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  const ended = (async () => {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
    text += decoder.decode();
  })();
  ended.catch(() => undefined);
  return { text: () => text, frames: () => framesIn(text), ended, leave: () => leaving.abort() };
}

function framesIn(text: string): StreamFrame[] {
  const blocks = text.split('\n\n').slice(0, -1);
  return blocks.flatMap((block) => {
    const lines = block.split('\n');
    const wrong = lines.find((line) => !LINE.test(line));
    if (wrong !== undefined) throw new Error(`no line of an event stream: ${JSON.stringify(wrong)}`);
    const all = (name: string) =>
      lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
    const [data, id] = [all('data'), all('id')];
    if (data.length > 1 || id.length > 1) throw new Error(`more than one event in a frame: ${block}`);
    return data.length + id.length === 0 ? [] : [{ data: data[0], id: id[0] }];
  });
}

/** The number of a position within its feed. */
export function seqOf({ id }: StreamFrame): number {
  return Number(id?.slice(id.lastIndexOf('-') + 1));
}
