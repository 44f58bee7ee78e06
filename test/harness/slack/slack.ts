import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnFreePort } from '../free-port.ts';
import { createSockets, type Sockets } from './sockets.ts';
import { type Json, METHODS, type SlackMessage, SlackRefusal, type SlackState } from './state.ts';

/** A stand-in of Slack: its Web API, its OAuth pages, and what it sends to apps over HTTP or Socket Mode. It is not Slack. */
export interface SlackStandIn extends SlackState {
  readonly url: string;
  /** The connections of Socket Mode. */
  readonly sockets: Sockets;
  /** While true, connections are cut, as when Slack cannot be reached. */
  setDown(isDown: boolean): void;
  /** Called before each call of a method is handled, with the port that it came from and what was given; may wait. */
  onCall: ((method: string, from: number, given: Json) => Promise<void> | void) | undefined;
  /** Refuses the next so many posts and edits, as when there were too many: again after a second. */
  limitNext(times: number): void;
  /** How many calls were refused because there were too many. */
  readonly limited: number;
  /** The Slack user that browsers are signed in as. With an enterprise, they install the app for all of it. */
  signedIn: { team: string; user: string; enterprise?: string };
  /** How long the tokens last that are given out, in seconds. */
  tokenSeconds: number;
  /** The workspaces or enterprises whose tokens were renewed, once for each time. */
  readonly renewed: string[];
  /** Installs the app in a workspace or an enterprise, as its install page does: gives the code for `oauth.v2.access`. */
  newCode(team: string, enterprise?: string): string;
  newTrigger(user: string): string;
  /** What `respond` was sent for an interaction. */
  readonly responses: { readonly to: string; readonly body: Json }[];
  responseUrl(of: string): string;
  stop(): Promise<void>;
}

export interface SlackApp {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly signingSecret: string;
  /** The token of the app with which pods open connections of Socket Mode. */
  readonly appToken?: string;
}

// A burst, and a steady rate for each channel: about what Slack allows.
const BURST = 20;
const PER_SECOND = 5;
// Three seconds in Slack. A busy machine may take longer, which is no fault of the app.
const TRIGGER_MS = 60_000;
const LIMITED = new Set(['chat.postMessage', 'chat.update']);

export async function startSlack(app: SlackApp): Promise<SlackStandIn> {
  const state: SlackState = {
    messages: [],
    ephemerals: [],
    views: [],
    statuses: [],
    triggers: new Map(),
    codes: new Map(),
    tokens: new Map(),
    names: new Map(),
    calls: new Map(),
  };
  const budgets = new Map<string, { left: number; at: number }>();
  let isDown = false;
  let toLimit = 0;
  let limited = 0;
  const server = createServer((request, response) => {
    if (isDown) request.socket.destroy();
    else void handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const sockets = createSockets(server);
  const port = await listenOnFreePort(server);
  const url = `http://127.0.0.1:${port}`;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = new URL(request.url ?? '/', url);
    const body = await bodyOf(request);
    if (at.pathname.startsWith('/respond/')) {
      slack.responses.push({ to: at.pathname.slice('/respond/'.length), body: JSON.parse(body) as Json });
      response.writeHead(200).end('ok');
    } else if (at.pathname.endsWith('/authorize')) authorize(at, response);
    else await call(at.pathname.replace('/api/', ''), request, body, response);
  }

  /** Sends the browser back with a code for the person that it is signed in as. */
  function authorize(at: URL, response: ServerResponse): void {
    const back = new URL(at.searchParams.get('redirect_uri') ?? '');
    const { team, user, enterprise } = slack.signedIn;
    const code = at.pathname.startsWith('/openid')
      ? `person-${randomUUID()}`
      : slack.newCode(team, enterprise);
    if (code.startsWith('person-')) state.codes.set(code, { team, user });
    back.searchParams.set('code', code);
    back.searchParams.set('state', at.searchParams.get('state') ?? '');
    response.writeHead(302, { location: back.href }).end();
  }

  async function call(method: string, request: IncomingMessage, body: string, response: ServerResponse) {
    const given = parse(body, request.headers['content-type']);
    state.calls.set(method, (state.calls.get(method) ?? 0) + 1);
    await slack.onCall?.(method, request.socket.remotePort ?? 0, given);
    // A call whose connection has ended in the meantime did not arrive.
    if (isDown || request.socket.destroyed) {
      request.socket.destroy();
      return;
    }
    const retryAfter = LIMITED.has(method) ? spend(`${method} ${String(given.channel)}`) : 0;
    if (retryAfter > 0) {
      limited += 1;
      response
        .writeHead(429, { 'retry-after': String(retryAfter) })
        .end('{"ok":false,"error":"ratelimited"}');
      return;
    }
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const reply = answer(method, { ...given, token: given.token ?? token });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
  }

  function answer(method: string, given: Json): Json {
    try {
      if (method === 'oauth.v2.access') return { ok: true, ...grant(given) };
      if (method === 'openid.connect.token') return { ok: true, ...identify(given) };
      if (method === 'apps.connections.open') return { ok: true, ...connect(given) };
      const known = state.tokens.get(String(given.token));
      if (known === undefined) throw new SlackRefusal('invalid_auth');
      if (Number(known.until ?? Number.POSITIVE_INFINITY) < Date.now())
        throw new SlackRefusal('token_expired');
      const run = METHODS[method];
      if (run === undefined) throw new SlackRefusal('unknown_method');
      return { ok: true, ...run(state, given) };
    } catch (error) {
      if (!(error instanceof SlackRefusal)) throw error;
      return { ok: false, error: error.reason, details: error.details };
    }
  }

  function checkClient({ client_id, client_secret }: Json): void {
    if (client_id !== app.clientId || client_secret !== app.clientSecret)
      throw new SlackRefusal('invalid_client');
  }

  /** A code, or a refresh token, for a bot token. Each refresh token is good for one use. */
  function grant(given: Json): Json {
    checkClient(given);
    const isRenewal = given.grant_type === 'refresh_token';
    const key = String(isRenewal ? given.refresh_token : given.code);
    const granted = state.codes.get(key);
    if (granted?.team === undefined)
      throw new SlackRefusal(isRenewal ? 'invalid_refresh_token' : 'invalid_code');
    state.codes.delete(key);
    const { team, enterprise } = granted;
    if (isRenewal) slack.renewed.push(String(enterprise ?? team));
    const token = `xoxe.xoxb-${randomUUID()}`;
    const refresh = `xoxe-1-${randomUUID()}`;
    state.tokens.set(token, { ...granted, until: Date.now() + slack.tokenSeconds * 1_000 });
    state.codes.set(refresh, granted);
    const isOfEnterprise = enterprise !== undefined;
    return {
      access_token: token,
      refresh_token: refresh,
      expires_in: slack.tokenSeconds,
      bot_user_id: 'UBOT',
      scope: 'chat:write',
      team: isOfEnterprise ? null : { id: team, name: `Workspace ${String(team)}` },
      enterprise: isOfEnterprise ? { id: enterprise, name: `Enterprise ${String(enterprise)}` } : null,
      is_enterprise_install: isOfEnterprise,
    };
  }

  function connect({ token }: Json): Json {
    if (app.appToken === undefined || token !== app.appToken) throw new SlackRefusal('invalid_auth');
    return { url: `ws://127.0.0.1:${port}/link` };
  }

  function identify(given: Json): Json {
    checkClient(given);
    const person = state.codes.get(String(given.code));
    state.codes.delete(String(given.code));
    if (person?.user === undefined) throw new SlackRefusal('invalid_code');
    const token = `xoxp-${randomUUID()}`;
    state.tokens.set(token, {
      'https://slack.com/team_id': person.team,
      'https://slack.com/user_id': person.user,
    });
    return { access_token: token };
  }

  function spend(key: string): number {
    if (toLimit > 0) {
      toLimit -= 1;
      return 1;
    }
    const now = Date.now();
    const budget = budgets.get(key) ?? { left: BURST, at: now };
    const left = Math.min(BURST, budget.left + ((now - budget.at) / 1_000) * PER_SECOND);
    budgets.set(key, { left: Math.max(0, left - 1), at: now });
    return left < 1 ? 1 : 0;
  }

  const slack: SlackStandIn = {
    ...state,
    url,
    sockets,
    responses: [],
    onCall: undefined,
    signedIn: { team: 'T1', user: 'U1' },
    tokenSeconds: 43_200,
    renewed: [],
    setDown(down) {
      isDown = down;
      if (down) server.closeAllConnections();
    },
    limitNext(times) {
      toLimit = times;
    },
    get limited() {
      return limited;
    },
    newCode(team, enterprise) {
      const code = `bot-${randomUUID()}`;
      state.codes.set(code, { team, ...(enterprise !== undefined && { enterprise }) });
      return code;
    },
    newTrigger(user) {
      const id = randomUUID();
      state.triggers.set(id, { user, until: Date.now() + TRIGGER_MS });
      return id;
    },
    responseUrl: (of) => `${url}/respond/${of}`,
    async stop() {
      sockets.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return slack;
}

/** Signs a request as Slack does. */
export function signatureOf(secret: string, body: string, seconds = Math.floor(Date.now() / 1_000)) {
  const digest = createHmac('sha256', secret).update(`v0:${seconds}:${body}`).digest('hex');
  return { 'x-slack-request-timestamp': String(seconds), 'x-slack-signature': `v0=${digest}` };
}

export type { SlackMessage };

function parse(body: string, type = ''): Json {
  return type.includes('json')
    ? (JSON.parse(body || '{}') as Json)
    : Object.fromEntries(new URLSearchParams(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
