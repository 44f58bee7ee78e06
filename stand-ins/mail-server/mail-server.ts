import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { listenOnFreePort } from '../../test/harness/free-port.ts';

/** A received mail. */
export interface ReceivedMail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
}

/** A mail server on this machine that accepts every mail and forwards none. */
export interface MailServer {
  /** Its address for clients, `smtp://…`. */
  readonly url: string;
  /** The mails in the order of arrival; the list grows. */
  readonly mails: readonly ReceivedMail[];
  stop(): void;
}

/**
 * Starts a server that supports the part of SMTP (RFC 5321) which a client without TLS and sign-in needs, for plain-text mails.
 */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    void converse(socket, (mail) => mails.push(mail)).catch(() => socket.destroy());
  });
  const port = await listenOnFreePort(server);
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function converse(socket: Socket, onMail: (mail: ReceivedMail) => void): Promise<void> {
  const say = (line: string) => void socket.write(`${line}\r\n`);
  let to: string[] = [];
  let lines: string[] | undefined;
  say('220 localhost');
  for await (const line of createInterface({ input: socket })) {
    if (lines !== undefined) {
      // A line that begins with a dot is sent with an additional dot. A single dot ends the mail.
      if (line !== '.') lines.push(line.replace(/^\./, ''));
      else {
        onMail(parse(to, lines));
        [to, lines] = [[], undefined];
        say('250 OK');
      }
      continue;
    }
    const command = line.slice(0, 4).toUpperCase();
    if (command === 'RCPT') to.push(/<(.*)>/.exec(line)?.[1] ?? '');
    if (command === 'DATA') lines = [];
    say(command === 'DATA' ? '354 End with a point' : command === 'QUIT' ? '221 Bye' : '250 OK');
    if (command === 'QUIT') socket.end();
  }
}

function parse(to: readonly string[], lines: readonly string[]): ReceivedMail {
  const end = lines.indexOf('');
  const head = lines.slice(0, end).join('\n').replaceAll(/\n\s+/g, ' ');
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1] ?? '';
  const body = lines.slice(end + 1).join('\n');
  const isQuoted = header('content-transfer-encoding') === 'quoted-printable';
  return { to, subject: header('subject'), text: isQuoted ? unquoted(body) : body };
}

/** Decodes quoted-printable (RFC 2045). */
function unquoted(text: string): string {
  const bytes = text
    .replaceAll(/=\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
