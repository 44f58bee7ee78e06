import { once } from 'node:events';
import { connect } from 'node:net';

// `+<time> [<db> <address>] "<argument>" …`
const COMMAND = /^\+\d+\.\d+ \[\d+ ([^\]]*)\](.*)$/s;
const ARGUMENT = /"((?:[^"\\]|\\.)*)"/gs;

/**
 * Reports every command that Redis runs from now on, those of scripts included; returns a function that stops it.
 * It does not use ioredis, which mixes up replies when commands arrive together with the reply to MONITOR.
 */
export async function watchCommands(
  url: string,
  onCommand: (args: readonly string[], isOfScript: boolean) => void,
): Promise<() => void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write('MONITOR\r\n');
  let rest = '';
  const watching = new Promise<void>((resolve, reject) => {
    socket.on('close', () => reject(new Error('Redis hung up on MONITOR.')));
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [, from, command] = COMMAND.exec(line) ?? [];
        if (command !== undefined) onCommand(argumentsIn(command), from === 'lua');
        else if (line === '+OK') resolve();
        else reject(new Error(`Redis refused MONITOR: ${line}`));
      }
    });
  });
  await watching;
  return () => socket.destroy();
}

function argumentsIn(command: string): string[] {
  return [...command.matchAll(ARGUMENT)].map(([, quoted = '']) => {
    const bytes = quoted.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex, char) =>
      hex === undefined ? unescaped(char) : String.fromCharCode(Number.parseInt(hex, 16)),
    );
    return Buffer.from(bytes, 'latin1').toString('utf8');
  });
}

function unescaped(char: string): string {
  return { n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b' }[char] ?? char;
}
