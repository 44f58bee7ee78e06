import { randomBytes } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { parseConsoleFiles } from '../../../services/api/src/pages/console/files.ts';
import { consoleAsset, consolePage } from '../../../services/api/src/pages/console/page.ts';
import { startAuthorizationServer } from '../../../stand-ins/authorization-server/authorization-server.ts';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { type ChatSite, openChatSite } from '../chat/transport-site.ts';
import { listenOnFreePort } from '../free-port.ts';
import { createForwarder } from '../http/forward-request.ts';
import { createTestBrowser } from '../pages/browser.ts';
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

/** Who may sign in, with the roles that the company says they have. */
const OPERATORS = {
  olivia: ['viewer', 'operator', 'reader'],
  viewer: ['viewer'],
  operator: ['operator'],
  reader: ['reader'],
  /** Of the same roles as `viewer`: a session keeps the tenants of the pod where it began, and this one begins elsewhere. */
  newcomer: ['viewer'],
} as const;
export type OperatorName = keyof typeof OPERATORS;

const CLIENT = { clientId: 'parley', clientSecret: 'a secret of tests' };

/** Pods with agents that ask, and the console before them, to which operators sign in at their company. */
export async function openConsoleSite() {
  const built = await buildConsole();
  let serve: RequestListener = (_, outgoing) => outgoing.writeHead(503).end();
  const server = createServer((incoming, outgoing) => serve(incoming, outgoing));
  const publicUrl = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  const company = await startAuthorizationServer({
    name: 'Company',
    users: Object.keys(OPERATORS),
    roles: OPERATORS,
    clients: [{ ...CLIENT, redirectUris: [`${publicUrl}/console/signed-in`], firstParty: true }],
  });
  const chats = await openChatSite({
    script: [line],
    delayMs: 1,
    hasDesk: true,
    file: { helper: '', agents: AGENTS, servers: '' },
    env: {
      ...consoleEnv(publicUrl, company.issuer),
      PARLEY_CONNECT_TENANTS: 'default,globex',
      PARLEY_API_KEYS: [
        `default:${keyOf('asker')}`,
        `default/reader/operate+read_content:${keyOf('reader')}`,
      ].join(','),
    },
  });
  const front = frontOf(chats, built.text);
  serve = front.serve;
  const sessions = new Map<OperatorName, Promise<string>>();
  return {
    chats,
    publicUrl,
    askerKey: keyOf('asker'),
    readerKey: keyOf('reader'),
    /** The cookie of an operator who has signed in. */
    sessionOf(name: OperatorName): Promise<string> {
      const known = sessions.get(name) ?? signIn(publicUrl, name);
      sessions.set(name, known);
      return known;
    },
    async stop() {
      front.close();
      server.closeAllConnections();
      server.close();
      await chats.stop();
      await company.close();
      await built.remove();
    },
  };
}

function consoleEnv(publicUrl: string, issuer: string): Record<string, string> {
  return {
    PARLEY_CONSOLE: 'oidc',
    PARLEY_PUBLIC_URL: publicUrl,
    PARLEY_TITLE: 'Example Corporation',
    PARLEY_WEBHOOK_SECRETS: `default:whsec_${randomBytes(32).toString('base64')}`,
    PARLEY_VAULT_KEYS: `one:${randomBytes(32).toString('base64')}`,
    PARLEY_CONNECT_OIDC_ISSUER: issuer,
    PARLEY_CONNECT_OIDC_CLIENT_ID: CLIENT.clientId,
    PARLEY_CONNECT_OIDC_CLIENT_SECRET: CLIENT.clientSecret,
    PARLEY_CONSOLE_ROLES_CLAIM: 'roles',
  };
}

async function signIn(publicUrl: string, name: OperatorName): Promise<string> {
  const browser = createTestBrowser({ publicUrl });
  await browser.enter('/console/sign-in?to=/console', name);
  return browser.jar.header(publicUrl);
}

const OF_PODS = /^\/(?:v1|auth)\/|^\/console\/(?:session|sign-in|signed-in|sign-out)\b/;

/** Serves the console that was built for this test as a pod does, and leaves all else to the pods. */
function frontOf({ balancer }: ChatSite, text: string) {
  const page = { files: parseConsoleFiles(text), https: false, brand: { title: '' } };
  const forwarder = createForwarder({
    candidates: () => [{ name: 'balancer', url: new URL(balancer.url), healthy: true }],
    onAnswer: () => undefined,
  });
  return {
    close: forwarder.close,
    serve(incoming: IncomingMessage, outgoing: ServerResponse): void {
      const { url = '' } = incoming;
      if (OF_PODS.test(url)) {
        forwarder.handle(incoming, outgoing);
        return;
      }
      const asset = /^\/console\/assets\/([\w.-]+)$/.exec(url)?.[1];
      const head = { url, headers: incoming.headers, remoteAddress: '', requestId: '' };
      const reply = asset === undefined ? consolePage(page, head) : consoleAsset(page, asset);
      if (reply.type !== 'text') throw new Error('The console is text.');
      outgoing.writeHead(reply.status, reply.headers as OutgoingHttpHeaders);
      outgoing.end(reply.body);
    },
  };
}
