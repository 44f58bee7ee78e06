import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { type ChatSite, openChatSite } from '../chat/transport-site.ts';
import { listenOnFreePort } from '../free-port.ts';
import { createForwarder } from '../http/forward-request.ts';
import { buildConsole } from './build.ts';

const AGENTS = `  lead: { title: Lead, model: scripted, instructions: Lead., elicit: true, delegates: [{ agent: scout, description: Looks around. }] }
  scout: { title: Scout, model: scripted, instructions: Scout., elicit: true }
`;
const keyOf = (role: string) => `a-service-key-of-the-${role}`;
const TEXT = { kind: 'text', message: 'Which colour?' };

/** Asks, books, or has the scout ask, as the person says. */
function line({ userText, results, system }: Turn): ScriptedReply {
  if (results.length > 0) return { text: `Heard ${results.map(({ text }) => text).join(' ')}.` };
  if (system.startsWith('Scout'))
    return { calls: [{ name: 'elicit', arguments: { ...TEXT, message: 'Where?' } }] };
  const [word, ...rest] = userText.split(' ');
  if (word === 'lead')
    return { text: 'One moment.', calls: [{ name: 'delegate_to_scout', arguments: { task: 'Look.' } }] };
  if (word === 'book')
    return { calls: [{ name: 'bookings__book', arguments: { name: rest.join(' '), round: 0 } }] };
  if (word === 'ask')
    return {
      text: 'One moment.',
      calls: [{ name: 'elicit', arguments: { ...TEXT, message: rest.join(' ') || TEXT.message } }],
    };
  return { text: 'Nothing to do.' };
}

export type ConsoleSite = Awaited<ReturnType<typeof openConsoleSite>>;

/** Pods with agents that ask, and the console before them. */
export async function openConsoleSite(pods = 3) {
  const console = await buildConsole();
  const chats = await openChatSite({
    script: [line],
    delayMs: 1,
    pods,
    hasDesk: true,
    file: { helper: '', agents: AGENTS, servers: '' },
    env: {
      PARLEY_API_KEYS: [
        `default:${keyOf('asker')}`,
        `default/viewer/operate:${keyOf('viewer')}`,
        `default/reader/operate+read_content:${keyOf('reader')}`,
      ].join(','),
    },
  });
  const fronts: { close(): void }[] = [];
  return {
    chats,
    askerKey: keyOf('asker'),
    readerKey: keyOf('reader'),
    /** The console for an operator with these roles. */
    async front(roles: readonly string[], more: object = {}) {
      const session = {
        name: 'Olivia Operator',
        csrf: 'c',
        title: 'Example Corporation',
        tenants: [{ tenant: 'default', roles }],
        ...more,
      };
      const front = await serveFront(chats, {
        folder: console.folder,
        session,
        key: keyOf(roles.includes('reader') ? 'reader' : 'viewer'),
      });
      fronts.push(front);
      return front.url;
    },
    async stop() {
      for (const front of fronts) front.close();
      await chats.stop();
      await console.remove();
    },
  };
}

interface FrontOptions {
  readonly folder: URL;
  readonly session: object;
  readonly key: string;
}

async function serveFront({ balancer }: ChatSite, { folder, session, key }: FrontOptions) {
  const forwarder = createForwarder({
    candidates: () => [{ name: 'balancer', url: new URL(balancer.url), healthy: true }],
    onAnswer: () => undefined,
    headers: { authorization: `Bearer ${key}` },
  });
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? '';
    if (path.startsWith('/v1/')) return forwarder.handle(incoming, outgoing);
    if (path === '/console/session') {
      outgoing.setHeader('content-type', 'application/json');
      return void outgoing.end(JSON.stringify(session));
    }
    void serveFile(folder, incoming, outgoing);
  });
  const port = await listenOnFreePort(server);
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      forwarder.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types lit-html 'allow-duplicates'";

async function serveFile(
  folder: URL,
  { url = '' }: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const name = url.startsWith('/console/assets/') ? url.slice('/console/'.length) : 'index.html';
  const type = name.endsWith('.js') ? 'text/javascript' : name.endsWith('.css') ? 'text/css' : 'text/html';
  try {
    const text = await readFile(new URL(name, folder));
    outgoing.writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': POLICY });
    outgoing.end(text);
  } catch {
    outgoing.writeHead(404).end();
  }
}
