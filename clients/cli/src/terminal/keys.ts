import { emitKeypressEvents, type Interface, type Key } from 'node:readline';
import { PassThrough, type Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { TerminalStreams } from './screen.ts';

export interface KeyListener {
  /** Takes a pasted text whole, with `\n` as its line breaks. Without it, a paste is ignored. */
  readonly paste?: ((text: string) => void) | undefined;
  /** Whether Ctrl+J is a line break and not Enter. */
  readonly takesLines?: boolean | undefined;
  /** Whether several lines that come at once are answers to several prompts, and not a paste. */
  readonly takesAnswersAhead?: boolean;
}

/** The keys of a terminal, for one prompt after the other. */
export interface Keys {
  /** Emits `keypress` while a prompt is open. What is typed when none is open waits for the next one. */
  readonly stream: Readable;
  /** Begins to read for a prompt; call the returned function when it has ended. */
  open(listener: KeyListener): () => void;
  /** Gives the terminal to the shell, as Ctrl+Z does in cooked mode, until the shell continues this process. */
  suspend(): void;
}

/** Terminals enclose what is pasted in these, once they are told to. */
const PASTE_BEGINS = '\u001b[200~';
const PASTE_ENDS = '\u001b[201~';
const ENCLOSE_PASTES = '\u001b[?2004h';
const LEAVE_PASTES = '\u001b[?2004l';
/** What may become the beginning of a paste with the next bytes. Shorter beginnings are keys of their own. */
const PASTE_MAY_BEGIN = ['\u001b[2', '\u001b[20', '\u001b[200'];
/** How long a lone Escape may be the beginning of another key. */
const ESCAPE_MS = 50;

/**
 * Reads a terminal for prompts. A paste reaches its prompt whole and nothing else: neither the next prompt nor the shell. Keys
 * that are typed ahead are kept for the next prompt, also those of the same read.
 */
export function createKeys({ input, output }: TerminalStreams): Keys {
  // What readline does to the mode of its terminal, it does here.
  const stream = Object.assign(new PassThrough(), { setRawMode: setRaw });
  emitKeypressEvents(stream, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
  const decoder = new StringDecoder('utf8');
  const pastes: string[] = [];
  let unread = '';
  let current: KeyListener | undefined;

  function take(data: Buffer | string): void {
    unread += typeof data === 'string' ? data : decoder.write(data);
    for (;;) {
      const begin = unread.indexOf(PASTE_BEGINS);
      const held =
        begin < 0
          ? unread.length - (PASTE_MAY_BEGIN.find((part) => unread.endsWith(part))?.length ?? 0)
          : begin;
      takeKeys(unread.slice(0, held));
      unread = unread.slice(held);
      const end = unread.indexOf(PASTE_ENDS);
      if (begin < 0 || end < 0) return;
      takePaste(unread.slice(PASTE_BEGINS.length, end));
      unread = unread.slice(end + PASTE_ENDS.length);
    }
  }

  function takeKeys(text: string): void {
    if (current?.takesAnswersAhead !== true && isBarePaste(text)) {
      takePaste(text);
      return;
    }
    const keys = current?.takesLines === true ? text : text.replaceAll('\n', '\r');
    // Enter, which may end a prompt, ends a chunk, so that the chunks behind it wait for the next prompt.
    for (const chunk of keys.split(/(?<=\r)/)) stream.write(chunk);
  }

  function takePaste(text: string): void {
    pastes.push(text.replaceAll(/\r\n?/g, '\n'));
    // One key stands for it among the others.
    stream.write(PASTE_BEGINS);
  }

  function onKey(_text: string | undefined, { name }: Key): void {
    if (name !== 'paste-start') return;
    const text = pastes.shift() ?? '';
    current?.paste?.(text);
  }

  function setRaw(isRaw: boolean): void {
    output.write(isRaw ? ENCLOSE_PASTES : LEAVE_PASTES);
    input.setRawMode(isRaw);
  }

  // The terminal was closed.
  const leave = () => void stream.write('\u0003');

  return {
    stream,
    suspend() {
      if (process.platform === 'win32') return;
      setRaw(false);
      process.once('SIGCONT', () => {
        if (current === undefined) return;
        setRaw(true);
        output.emit('resize');
      });
      process.kill(process.pid, 'SIGTSTP');
    },
    open(listener) {
      if (current === undefined) setRaw(true);
      current = listener;
      input.on('data', take).once('end', leave).resume();
      stream.on('keypress', onKey).resume();
      return () => {
        stream.pause().off('keypress', onKey);
        input.off('data', take).off('end', leave).pause();
        setImmediate(() => {
          // Another prompt may follow at once: what is typed between both is then read as keys, too.
          if (current !== listener) return;
          current = undefined;
          setRaw(false);
        });
      };
    },
  };
}

/** Whether a terminal pasted this without enclosing it: nobody types a word, Enter and the next word between two reads. */
function isBarePaste(text: string): boolean {
  return /^(?:\P{Cc}|[\t\r\n])*$/u.test(text) && /\P{Cc}[\r\n]+\P{Cc}/u.test(text);
}
