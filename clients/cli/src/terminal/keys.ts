/**
 * Reads the keys of a terminal for one prompt at a time, so that pastes and early typing never reach the wrong prompt. What a
 * key does is decided by the prompts.
 */

import { emitKeypressEvents, type Interface, type Key } from 'node:readline';
import { PassThrough, type Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { TerminalStreams } from './screen.ts';

interface KeyListener {
  /** Takes a whole pasted text with `\n` as line breaks. Without this method, pastes are ignored. */
  readonly paste?: ((text: string) => void) | undefined;
  /** Whether Ctrl+J is a line break instead of Enter. */
  readonly takesLines?: boolean | undefined;
  /** Whether several lines in one read are answers to several prompts instead of a paste. */
  readonly takesAnswersAhead?: boolean;
  /** Whether the prompt draws its own cursor. */
  readonly hidesCursor?: boolean;
}

/** The keys of a terminal, for one prompt after another. */
export interface Keys {
  /** Emits `keypress` while a prompt is open. Keys typed between two prompts wait for the next one. */
  readonly stream: Readable;
  /** Starts reading for a prompt. Call the returned function when the prompt has ended. */
  open(listener: KeyListener): () => void;
  /** Suspends the program as Ctrl+Z does in cooked mode. Calls `onContinue` once the shell continues it. */
  suspend(onContinue: () => void): void;
}

/** Terminals in bracketed-paste mode enclose pasted text in these sequences. */
const PASTE_BEGINS = '\u001b[200~';
const PASTE_ENDS = '\u001b[201~';
const ENCLOSE_PASTES = '\u001b[?2004h';
const LEAVE_PASTES = '\u001b[?2004l';
/** Bytes that may be the beginning of a paste, depending on the next ones. */
const PASTE_MAY_BEGIN = ['\u001b', '\u001b[', '\u001b[2', '\u001b[20', '\u001b[200'];
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CTRL_C = '\u0003';
/** How long a lone Escape may still be the beginning of another key or of a paste, in ms. */
const ESCAPE_MS = 50;
/** The system needs less than this time to stop a process, in ms. */
const CONTINUED_MS = 20;

/**
 * Reads a terminal for prompts. A paste reaches only its own prompt, and whole: neither the next prompt nor the shell gets a
 * part of it. Keys typed ahead wait for the next prompt, including those in the same read.
 */
export function createKeys({ input, output }: TerminalStreams): Keys {
  // readline sets the raw mode on this stream, which passes it on to the terminal.
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
    // If the end of a paste is lost, all later keys would count as pasted; Ctrl+C is the way out.
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

  /** Nothing followed the possible beginning of a paste, so it was a key. */
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
    // Enter may end a prompt, so each chunk ends with Enter, and later chunks wait for the next prompt.
    for (const chunk of keys.split(/(?<=\r)/)) stream.write(chunk);
  }

  function takePaste(text: string): void {
    pastes.push(text.replaceAll(/\r\n?/g, '\n'));
    // One key represents the paste in the order of the other keys.
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

  /** Resets the terminal when the process ends during a prompt. Node itself restores the mode of the terminal. */
  const atExit = () => {
    showCursor();
    output.write(LEAVE_PASTES);
  };

  // If the terminal is closed, the prompt ends as with Ctrl+C.
  const leave = () => void stream.write(CTRL_C);

  return {
    stream,
    suspend(onContinue) {
      if (process.platform === 'win32') return;
      showCursor();
      setRaw(false);
      // The whole process group is stopped, because the shell waits for all its processes, of which npx or a wrapper may be the
      // first.
      process.kill(0, 'SIGTSTP');
      // The timer fires when the shell continues this process, or at once if no shell can, because then the system does not
      // stop it.
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
          // Another prompt may follow at once, so that keys typed in between are read too.
          if (current !== listener) return;
          current = undefined;
          setRaw(false);
          process.off('exit', atExit);
        });
      };
    },
  };
}

/**
 * Whether the input looks like a paste that the terminal did not enclose: people seldom type a word, Enter and the next word
 * between two reads.
 */
function isBarePaste(text: string): boolean {
  return /^(?:\P{Cc}|[\t\r\n])*$/u.test(text) && /\P{Cc}[\r\n]+\P{Cc}/u.test(text);
}
