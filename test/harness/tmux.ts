import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
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
  /** What is on the screen, with what has left it at the top. */
  screen(): Promise<string>;
  /** The screen with its colours, which may be all that a key changes. */
  look(): Promise<string>;
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
  const tmux = async (...args: readonly string[]) => {
    const { stdout } = await run('tmux', ['-L', socket, '-f', '/dev/null', ...args]);
    return stdout;
  };
  const settings = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const size = ['-x', String(columns), '-y', String(rows)];
  const line = command.map((part) => `'${part.replaceAll("'", "'\\''")}'`).join(' ');
  await tmux(
    'new-session',
    '-d',
    ...size,
    ...settings,
    // Ctrl+C is for the program.
    `trap : INT; sleep 0.1; ${line}; printf '\\nended %s\\n' $?; exec sleep 600`,
  );
  const screen = () => tmux('capture-pane', '-p', '-S', '-300');
  const untilShown = (pattern: RegExp) =>
    waitUntil(
      async () => {
        const text = await screen();
        // The message of a wait that fails then shows the screen.
        if (!pattern.test(text)) throw new Error(text.trimEnd());
        return text;
      },
      // Each look starts a program.
      { what: `a screen like ${pattern}`, everyMs: 100 },
    );
  return {
    press: async (...keys) => void (await tmux('send-keys', ...keys)),
    type: async (text) => void (await tmux('send-keys', '-l', text)),
    screen,
    look: () => tmux('capture-pane', '-p', '-e', '-S', '-300'),
    untilShown,
    untilEnded: () => untilShown(/^ended \d+$/m),
    resize: async (width, height) =>
      void (await tmux('resize-window', '-x', String(width), '-y', String(height))),
    // The server is this terminal's own.
    close: async () => void (await tmux('kill-server').catch(() => undefined)),
  };
}
