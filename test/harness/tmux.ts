import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { onPath } from './on-path.ts';
import { waitUntil } from './wait-until.ts';

const run = promisify(execFile);

/** A pseudo-terminal with a program in it. */
export interface Terminal {
  /** Presses keys by their names in tmux, such as `Enter`, `Down`, `C-c`. */
  press(...keys: readonly string[]): Promise<void>;
  /** Types a text. */
  type(text: string): Promise<void>;
  /** Pastes a text as terminals do: enclosed, if the program asked for that, or as if it was typed. */
  paste(text: string, options?: { readonly isEnclosed?: boolean }): Promise<void>;
  /** What is on the screen, without what has left it. */
  visible(): Promise<string>;
  /** What is on the screen, with what has left it at the top. */
  screen(): Promise<string>;
  /** The screen with its colours, which may be all that a key changes. */
  look(): Promise<string>;
  /** Whether the cursor of the terminal itself is shown. */
  isCursorShown(): Promise<boolean>;
  /** Waits until the screen matches, and returns it. */
  untilShown(pattern: RegExp): Promise<string>;
  /** Waits until the program has ended, and returns the last screen. */
  untilEnded(): Promise<string>;
  resize(columns: number, rows: number): Promise<void>;
  close(): Promise<void>;
}

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

export const hasTmux = onPath('tmux') !== undefined;

/** Starts a program in a terminal of its own. The screen stays when the program ends. */
export async function openTerminal(
  command: readonly string[],
  { env = {}, columns = 100, rows = 40 }: TerminalOptions = {},
): Promise<Terminal> {
  const socket = `parley-${process.pid}-${randomBytes(4).toString('hex')}`;
  const settings = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const size = ['-x', String(columns), '-y', String(rows)];
  const line = command.map(quoted).join(' ');
  await run('tmux', [
    ...['-L', socket, '-f', '/dev/null', 'new-session'],
    '-d',
    ...size,
    ...settings,
    // Ctrl+C is for the program.
    `trap : INT; sleep 0.1; ${line}; printf '\\nended %s\\n' $?; exec sleep 600`,
  ]);
  const { tmux, close } = control(socket);
  const screen = () => tmux('capture-pane', '-p', '-S', '-300');
  const untilShown = (pattern: RegExp) =>
    waitUntil(
      async () => {
        const text = await screen();
        // The message of a wait that fails then shows the screen.
        if (!pattern.test(text)) throw new Error(text.trimEnd());
        return text;
      },
      { what: `a screen like ${pattern}`, everyMs: 50 },
    );
  return {
    press: async (...keys) => void (await tmux('send-keys', ...keys)),
    type: async (text) => void (await tmux('send-keys', '-l', '--', text)),
    async paste(text, { isEnclosed = true } = {}) {
      await tmux('set-buffer', '--', text);
      await tmux('paste-buffer', ...(isEnclosed ? ['-p'] : []));
    },
    visible: () => tmux('capture-pane', '-p'),
    screen,
    look: () => tmux('capture-pane', '-p', '-e', '-S', '-300'),
    isCursorShown: async () => (await tmux('display-message', '-p', '#{cursor_flag}')).trim() === '1',
    untilShown,
    untilEnded: () => untilShown(/^ended \d+$/m),
    resize: async (width, height) =>
      void (await tmux('resize-window', '-x', String(width), '-y', String(height))),
    close,
  };
}

const quoted = (part: string) => `'${part.replaceAll("'", "'\\''")}'`;

/** A word of a command of tmux, which ends at a line break. */
const wordOfTmux = (part: string) =>
  part.includes('\n') ? `"${part.replaceAll(/[\\"$]/g, '\\$&').replaceAll('\n', '\\n')}"` : quoted(part);

/** A client in control mode: a program for each command would cost more than what runs in the terminal. */
function control(socket: string) {
  const client = spawn('tmux', ['-u', '-L', socket, '-C', 'attach-session', '-f', 'no-output'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => client.once('exit', () => resolve()));
  // The first reply is that to the attaching.
  const waiting: ((reply: readonly string[], isError: boolean) => void)[] = [() => undefined];
  let reply: string[] | undefined;
  createInterface({ input: client.stdout }).on('line', (line) => {
    const [, mark] = /^%(begin|end|error) \d+ \d+ \d+$/.exec(line) ?? [];
    if (mark === 'begin') reply = [];
    else if (mark === undefined) reply?.push(line);
    else {
      waiting.shift()?.(reply ?? [], mark === 'error');
      reply = undefined;
    }
  });
  const send = (args: readonly string[]) => client.stdin.write(`${args.map(wordOfTmux).join(' ')}\n`);
  client.stdin.on('error', () => undefined);
  return {
    tmux: (...args: readonly string[]) =>
      new Promise<string>((resolve, reject) => {
        waiting.push((lines, isError) => {
          const text = `${lines.join('\n')}\n`;
          if (isError) reject(new Error(text));
          else resolve(text);
        });
        send(args);
      }),
    /** The server is this terminal's own. */
    async close() {
      send(['kill-server']);
      await ended;
    },
  };
}
