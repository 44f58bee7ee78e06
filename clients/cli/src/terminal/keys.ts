import { emitKeypressEvents, type Interface, type Key } from 'node:readline';
import { PassThrough, type Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { TerminalStreams } from './screen.ts';

interface KeyListener {
  /** Takes a pasted text whole, with `\n` as its line breaks. Without it, a paste is ignored. */
  readonly paste?: ((text: string) => void) | undefined;
  /** Whether Ctrl+J is a line break and not Enter. */
  readonly takesLines?: boolean | undefined;
  /** Whether several lines that come at once are answers to several prompts, and not a paste. */
  readonly takesAnswersAhead?: boolean;
  /** Whether the prompt draws a cursor of its own. */
  readonly hidesCursor?: boolean;
}

/** The keys of a terminal, for one prompt after the other. */
export interface Keys {
  /** Emits `keypress` while a prompt is open. What is typed when none is open waits for the next one. */
  readonly stream: Readable;
  /** Begins to read for a prompt; call the returned function when it has ended. */
  open(listener: KeyListener): () => void;
  /** Gives the terminal to the shell, as Ctrl+Z does in cooked mode. Calls `onContinue` once the shell has given it back. */
  suspend(onContinue: () => void): void;
}

/** Terminals enclose what is pasted in these, once they are told to. */
const PASTE_BEGINS = '\u001b[200~';
const PASTE_ENDS = '\u001b[201~';
const ENCLOSE_PASTES = '\u001b[?2004h';
const LEAVE_PASTES = '\u001b[?2004l';
/** What may become the beginning of a paste with the next bytes. */
const PASTE_MAY_BEGIN = ['\u001b', '\u001b[', '\u001b[2', '\u001b[20', '\u001b[200'];
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CTRL_C = '\u0003';
/** How long a lone Escape may be the beginning of another key, or of a paste. */
const ESCAPE_MS = 50;
/** Longer than the system takes to stop a process. */
const CONTINUED_MS = 20;

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
  let releasing: NodeJS.Timeout | undefined;

  function take(data: Buffer | string): void {
    clearTimeout(releasing);
    const read = typeof data === 'string' ? data : decoder.write(data);
    // The end of the paste is lost; without a way out, all keys would be a part of it.
    if (read === CTRL_C && unread.startsWith(PASTE_BEGINS)) unread = '';
    unread += read;
    for (;;) {
      const begin = unread.indexOf(PASTE_BEGINS);
      const held =
        begin < 0
          ? unread.length - (PASTE_MAY_BEGIN.find((part) => unread.endsWith(part))?.length ?? 0)
          : begin;
      takeKeys(unread.slice(0, held));
      unread = unread.slice(held);
      const end = unread.indexOf(PASTE_ENDS);
      if (begin < 0 && unread !== '') releasing = setTimeout(release, ESCAPE_MS);
      if (begin < 0 || end < 0) return;
      takePaste(unread.slice(PASTE_BEGINS.length, end));
      unread = unread.slice(end + PASTE_ENDS.length);
    }
  }

  /** Nothing has followed the beginning of a paste: it was a key. */
  function release(): void {
    takeKeys(unread);
    unread = '';
  }

  function takeKeys(text: string): void {
    if (current?.paste !== undefined && current.takesAnswersAhead !== true && isBarePaste(text)) {
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

  const showCursor = () => void (current?.hidesCursor === true && output.write(SHOW_CURSOR));
  const hideCursor = () => void (current?.hidesCursor === true && output.write(HIDE_CURSOR));

  /** A process that ends in the middle of a prompt. Node itself gives back the mode of the terminal. */
  const atExit = () => {
    showCursor();
    output.write(LEAVE_PASTES);
  };

  // The terminal was closed.
  const leave = () => void stream.write(CTRL_C);

  return {
    stream,
    suspend(onContinue) {
      if (process.platform === 'win32') return;
      showCursor();
      setRaw(false);
      // The shell waits for all processes of the command, of which npx or a wrapper may be the first.
      process.kill(0, 'SIGTSTP');
      // It runs when the shell continues this process; at once where no shell can, since the system then stops nothing.
      setTimeout(() => {
        if (current === undefined) return;
        setRaw(true);
        hideCursor();
        onContinue();
      }, CONTINUED_MS);
    },
    open(listener) {
      if (current === undefined) {
        setRaw(true);
        process.once('exit', atExit);
      }
      current = listener;
      hideCursor();
      input.on('data', take).once('end', leave).resume();
      stream.on('keypress', onKey).resume();
      return () => {
        stream.pause().off('keypress', onKey);
        showCursor();
        input.off('data', take).off('end', leave).pause();
        setImmediate(() => {
          // Another prompt may follow at once: what is typed between both is then read as keys, too.
          if (current !== listener) return;
          current = undefined;
          setRaw(false);
          process.off('exit', atExit);
        });
      };
    },
  };
}

/** Whether a terminal pasted this without enclosing it: a word, Enter and the next word are seldom typed between two reads. */
function isBarePaste(text: string): boolean {
  return /^(?:\P{Cc}|[\t\r\n])*$/u.test(text) && /\P{Cc}[\r\n]+\P{Cc}/u.test(text);
}
