import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Elicitation } from '../../../clients/widget/src/elicitation.ts';
import type { PageEvent } from '../../../clients/widget/src/server/page.ts';
import {
  type Connection,
  createElicitationServer,
  type ElicitationServer,
  type ElicitationServerOptions,
  Refusal,
} from '../../../clients/widget/src/server.ts';
import { paced } from '../../harness/pace.ts';
import { type Handler, type Hub, json, problem, startHub } from './hub.ts';

const INBOX = 'GET /v1/inbox/events';
const QUESTION = 'GET /v1/elicitations/q';

let hub: Hub;
let server: ElicitationServer;

beforeEach(async () => {
  hub = await startHub();
  server = connect();
});

afterEach(async () => {
  server.close();
  await hub.close();
});

function connect(options: Partial<ElicitationServerOptions> = {}): ElicitationServer {
  return createElicitationServer({
    baseUrl: hub.baseUrl,
    getToken: () => 'one',
    pollMs: 30,
    hiddenMs: 30,
    retryMs: [10, 40],
    ...options,
  });
}

/** Replies of proxies and of a server in trouble, to every request. */
const status =
  (code: number): Handler =>
  (_, res) => {
    res.writeHead(code).end();
    return true;
  };
const sends =
  (code: number, body: unknown, type: string): Handler =>
  (_, res) => {
    json(res, code, body, type);
    return true;
  };
const signIn: Handler = (_, res) => {
  res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>');
  return true;
};
const breaks: Handler = (req) => {
  req.socket.destroy();
  return true;
};
const limits: Handler = (_, res) => {
  problem(res.setHeader('retry-after', '7'), 429, 'rate_limited');
  return true;
};

/** A page whose events the test fires. */
function fakePage() {
  const listeners = new Set<(event: PageEvent) => void>();
  let hidden = false;
  return {
    isHidden: () => hidden,
    on(listener: (event: PageEvent) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    listeners,
    fire(event: PageEvent) {
      if (event === 'hidden' || event === 'shown') hidden = event === 'hidden';
      for (const listener of listeners) listener(event);
    },
  };
}

function follow(id: string, by: ElicitationServer = server) {
  const statuses: string[] = [];
  const states: Connection[] = [];
  let gone = 0;
  const stop = by.follow(
    id,
    ({ status }) => statuses.push(status),
    (state) => states.push(state),
    () => (gone += 1),
  );
  return { statuses, states, stop, gone: () => gone };
}

/** Follows a new question, whose stream is live. */
async function followed(by: ElicitationServer = server) {
  hub.put({ elicitationId: 'q' });
  const following = follow('q', by);
  await live(following.states);
  return following;
}

const until = (check: () => void) => vi.waitFor(check, { timeout: paced(30_000), interval: 20 });
const live = (states: readonly Connection[]) => until(() => expect(states.at(-1)).toBe('live'));

async function refusalOf(promise: Promise<unknown>): Promise<Refusal> {
  const error = await promise.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (error instanceof Refusal) return error;
  throw new Error(`not a refusal: ${error}`);
}

describe('reading', () => {
  it('returns the elicitation, and adjusts the clock to the server', async () => {
    hub.aheadMs = 7_200_000;
    hub.put({ elicitationId: 'q' });
    expect(await server.read('q')).toMatchObject({ elicitationId: 'q', status: 'pending' });
    expect(Math.abs(server.now() - Date.now() - 7_200_000)).toBeLessThan(60_000);
  });

  it('asks for a new token once after a 401', async () => {
    hub.put({ elicitationId: 'q' });
    hub.token = 'two';
    const tokens = ['one', 'two'];
    expect(await connect({ getToken: async () => tokens.shift() ?? '' }).read('q')).toMatchObject({
      elicitationId: 'q',
    });
    expect(await refusalOf(connect({ getToken: () => 'old' }).read('q'))).toMatchObject({
      code: 'unauthenticated',
      status: 401,
    });
    expect(hub.count(QUESTION)).toBe(4);
  });

  it.each([
    ['an unknown question', 'other', { code: 'not_found', status: 404 }],
    ['an id that would lead elsewhere', '..', { code: 'not_found' }],
    ['a path for an id', '../q', { code: 'not_found', status: 404 }],
  ])('refuses %s', async (_, id, refusal) => {
    hub.put({ elicitationId: 'q' });
    expect(await refusalOf(server.read(id))).toMatchObject(refusal);
  });

  it.each<[string, Handler, object]>([
    ['a page of a proxy for no reply', signIn, { code: 'offline', status: 0 }],
    ['the 404 of a proxy for an outage', status(404), { code: 'unavailable', status: 404 }],
  ])('takes %s', async (_, reply, refusal) => {
    hub.before = reply;
    expect(await refusalOf(server.read('q'))).toMatchObject(refusal);
  });

  it('is refused when the page has no token', async () => {
    const failing = connect({ getToken: () => Promise.reject(new Error('signed out')) });
    expect(await refusalOf(failing.read('q'))).toMatchObject({ code: 'unauthenticated', status: 0 });
    expect(hub.log).toEqual([]);
  });
});

describe('answering', () => {
  const answers = () => hub.log.filter((line) => line.startsWith('POST'));

  it('sends action, content and a responseId', async () => {
    hub.put({ elicitationId: 'q' });
    const now = await server.answer('q', { action: 'accept', content: { f: 1 } });
    expect(now.status).toBe('accepted');
    expect(answers()).toHaveLength(1);
    expect(answers()[0]).toMatch(
      /^POST \/v1\/elicitations\/q\/response \{"action":"accept","content":\{"f":1\},"responseId":"[A-Za-z0-9._-]{16,128}"\}$/,
    );
  });

  it('is retried with the same responseId when the reply is lost, and counts once', async () => {
    hub.put({ elicitationId: 'q' });
    let lost = 0;
    hub.before = (req, res) => {
      if (req.method !== 'POST' || lost === 2) return false;
      lost += 1;
      if (lost === 1) req.socket.destroy();
      else problem(res, 503, 'unavailable');
      return true;
    };
    expect((await server.answer('q', { action: 'decline' })).status).toBe('declined');
    expect(answers()).toHaveLength(3);
    expect(new Set(answers()).size).toBe(1);
    await server.answer('q', { action: 'decline' });
    expect(new Set(answers()).size).toBe(2);
  });

  it.each([
    ['the page of a proxy', '<h1>Sign in</h1>', 'text/html'],
    ['JSON that does not come from Parley', '{"ok":true}', 'application/json'],
  ])('is retried with the same responseId when the reply is %s with status 200', async (_, page, type) => {
    hub.put({ elicitationId: 'q' });
    hub.before = (req, res) => {
      if (req.method !== 'POST' || answers().length > 2) return false;
      res.writeHead(200, { 'content-type': type }).end(page);
      return true;
    };
    expect((await server.answer('q', { action: 'decline' })).status).toBe('declined');
    expect(answers()).toHaveLength(3);
    expect(new Set(answers()).size).toBe(1);
  });

  const errors = [{ path: 'f', message: 'must be a number' }];
  const invalid = { status: 422, code: 'invalid_answer', errors };
  const unclean = { ...invalid, errors: [...errors, 'odd'] };

  it.each<[string, Handler, object, number]>([
    ['four replies that do not come from Parley', signIn, { code: 'offline', status: 0 }, 4],
    ['four connections that break', breaks, { code: 'offline', status: 0 }, 4],
    ['a 408', status(408), { code: 'unavailable', status: 408 }, 1],
    ['a problem that a proxy sends as JSON', sends(422, unclean, 'application/json'), invalid, 1],
    ['a problem that a proxy sends as text', sends(422, invalid, 'text/plain'), invalid, 1],
    ['a 429', limits, { code: 'rate_limited', retryAfterSeconds: 7 }, 1],
  ])('gives up after %s, in an error without the answer', async (_, reply, refusal, tries) => {
    hub.before = reply;
    const refused = await refusalOf(server.answer('q', { action: 'accept', content: { f: 'canary' } }));
    expect(refused).toMatchObject(refusal);
    expect(`${refused.stack}${JSON.stringify(refused)}`).not.toContain('canary');
    expect(answers()).toHaveLength(tries);
  });

  it.each([
    ['no reply', undefined],
    ['a 503 with Retry-After', 503],
  ])('sends a decision once: after %s it is not sent again', async (_, status) => {
    hub.before = (req, res) => {
      if (status === undefined) req.socket.destroy();
      else problem(res.setHeader('retry-after', '0'), status, 'unavailable');
      return true;
    };
    const refusal = await refusalOf(server.decide('ap', { decision: 'approve' }));
    expect(refusal.status).toBe(status ?? 0);
    expect(answers()).toEqual(['POST /v1/approvals/ap/response {"decision":"approve"}']);
  });

  it('updates followers with the elicitation of a refusal', async () => {
    const { statuses } = await followed();
    hub.putSilently({ elicitationId: 'q', status: 'expired' });
    const refusal = await refusalOf(server.answer('q', { action: 'decline' }));
    expect(refusal.elicitation?.status).toBe('expired');
    expect(statuses).toEqual(['pending', 'expired']);
  });

  it('outlives the page, unless its body is too large for keepalive', async () => {
    for (const elicitationId of ['q', 'r']) hub.put({ elicitationId });
    const kept: unknown[] = [];
    const own = connect({
      fetch: (input, init) => {
        kept.push(init?.keepalive ?? false);
        return fetch(input, init);
      },
    });
    const content = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`f${at}`, 'x'.repeat(10_000)]));
    expect((await own.answer('q', { action: 'accept', content })).status).toBe('accepted');
    expect((await own.answer('r', { action: 'accept', content: {} })).status).toBe('accepted');
    expect(kept).toEqual([false, true]);
  });
});

describe('following', () => {
  it('delivers the present view, then every change, by the stream', async () => {
    hub.put({ elicitationId: 'q', mode: 'url' });
    const { statuses, states } = follow('q');
    await live(states);
    hub.put({ elicitationId: 'q', status: 'opened' });
    hub.put({ elicitationId: 'q', status: 'accepted' });
    await until(() => expect(statuses).toEqual(['pending', 'opened', 'accepted']));
    expect(hub.count(INBOX)).toBe(1);
  });

  it('uses one stream for all followers, and closes it with the last', async () => {
    for (const elicitationId of ['q', 'r']) hub.put({ elicitationId });
    const [first, second] = [follow('q'), follow('r')];
    await live(second.states);
    expect(hub.streams()).toBe(1);
    first.stop();
    hub.put({ elicitationId: 'r', status: 'declined' });
    await until(() => expect(second.statuses).toEqual(['pending', 'declined']));
    await until(() => expect(hub.streams()).toBe(0));
    const again = follow('q');
    await live(again.states);
    expect([hub.count(INBOX), first.statuses, again.statuses]).toEqual([2, ['pending'], ['pending']]);
  });

  it('never goes back to an earlier status, and delivers no status twice', async () => {
    const asked = hub.put({ elicitationId: 'q' });
    const { statuses, states } = follow('q');
    await live(states);
    hub.put({ elicitationId: 'q', status: 'accepted' });
    hub.put({ ...asked });
    await server.read('q');
    expect(statuses).toEqual(['pending', 'accepted']);
  });

  it('delivers the result of an own answer before its event arrives', async () => {
    const { statuses } = await followed();
    await server.answer('q', { action: 'cancel' });
    expect(statuses).toEqual(['pending', 'cancelled']);
  });

  it('reconnects after a loss and delivers what it missed', async () => {
    const { statuses } = await followed();
    hub.putSilently({ elicitationId: 'q', status: 'withdrawn', reason: 'run_stopped' });
    hub.cutStreams();
    await until(() => expect(statuses).toEqual(['pending', 'withdrawn']));
  });

  it('polls while there is no stream, in the state polling', async () => {
    hub.put({ elicitationId: 'q' });
    hub.before = (req, res) => {
      if (!req.url?.endsWith('/inbox/events')) return false;
      problem(res, 429, 'rate_limited');
      return true;
    };
    const { statuses, states } = follow('q');
    await until(() => expect(states.at(-1)).toBe('polling'));
    hub.putSilently({ elicitationId: 'q', status: 'accepted' });
    await until(() => expect(statuses).toEqual(['pending', 'accepted']));
    const asked = hub.count(QUESTION);
    await until(() => expect(hub.count(INBOX)).toBeGreaterThan(1));
    expect(hub.count(QUESTION)).toBe(asked);
  });

  it('asks a server that says when to come back for nothing until then', async () => {
    await followed();
    hub.put({ elicitationId: 'r' });
    let refused = false;
    hub.before = (req, res) => {
      if (!req.url?.endsWith('/inbox/events')) return false;
      refused ||= req.url.startsWith('/parley');
      problem(req.url.startsWith('/parley') ? res.setHeader('retry-after', '60') : res, 503, 'pod_busy');
      return true;
    };
    hub.cutStreams();
    await until(() => expect(refused).toBe(true));
    const asked = hub.count(QUESTION);
    const other = connect({ baseUrl: new URL(hub.baseUrl).origin });
    follow('r', other);
    await until(() => expect(hub.count(`${QUESTION.slice(0, -1)}r`)).toBeGreaterThan(5));
    // One may have been under way.
    expect(hub.count(QUESTION)).toBeLessThan(asked + 2);
    other.close();
  });

  it('does not poll before it has tried to return to a stream that it lost', async () => {
    hub.put({ elicitationId: 'q' });
    hub.put({ elicitationId: 'r' });
    const slow = connect({ retryMs: [600_000, 600_000] });
    const { states } = follow('q', slow);
    await until(() => expect(states.at(-1)).toBe('live'));
    hub.before = (req, res) => {
      if (req.url?.endsWith('/inbox/events') !== true) return false;
      problem(res, 429, 'rate_limited');
      return true;
    };
    hub.cutStreams();
    const asked = hub.count(QUESTION);
    const other = connect({ baseUrl: new URL(hub.baseUrl).origin });
    follow('r', other);
    await until(() => expect(hub.count(`${QUESTION.slice(0, -1)}r`)).toBeGreaterThan(10));
    // One from before the stream was live may have been under way.
    expect(hub.count(QUESTION)).toBeLessThan(asked + 2);
    for (const each of [slow, other]) each.close();
  });

  it('does not call a stream without a snapshot live', async () => {
    hub.put({ elicitationId: 'q' });
    hub.before = (req, res) => {
      if (!req.url?.endsWith('/inbox/events')) return false;
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write(': heartbeat\n\n');
      return true;
    };
    const { statuses, states } = follow('q');
    await until(() => expect(states.at(-1)).toBe('polling'));
    hub.putSilently({ elicitationId: 'q', status: 'accepted' });
    await until(() => expect(statuses).toEqual(['pending', 'accepted']));
    expect([hub.count(INBOX), states.includes('live')]).toEqual([1, false]);
  });

  it('increases the delay between streams that end without a snapshot, even after a heartbeat', async () => {
    hub.put({ elicitationId: 'q' });
    hub.before = (req, res) => {
      if (!req.url?.endsWith('/inbox/events')) return false;
      res.writeHead(200, { 'content-type': 'text/event-stream' }).end(': heartbeat\n\n');
      return true;
    };
    const own = connect({ retryMs: [20, 1_000] });
    const startedAt = performance.now();
    follow('q', own);
    await until(() => expect(hub.count(INBOX)).toBeGreaterThan(5));
    // The shortest delays are 10, 20, 40, 80 and 160 ms; without an increase the five take at most 100 ms.
    expect(performance.now() - startedAt).toBeGreaterThan(300);
    own.close();
  });

  it('is offline while the server does not reply, and live again afterwards', async () => {
    hub.put({ elicitationId: 'q' });
    hub.before = breaks;
    const { statuses, states } = follow('q');
    await until(() => expect(states).toEqual(['connecting', 'offline']));
    hub.before = () => false;
    await live(states);
    await until(() => expect(statuses).toEqual(['pending']));
  });

  it('reports an unknown question as gone, and stops reading it', async () => {
    const { statuses, states, gone } = follow('q');
    await until(() => expect(gone()).toBe(1));
    expect(statuses).toEqual([]);
    await until(() => expect(hub.streams()).toBe(0));
    const asked = hub.count(QUESTION);
    hub.put({ elicitationId: 'r' });
    await live(follow('r').states);
    expect(hub.count(QUESTION)).toBe(asked);
    expect(states).not.toContain('offline');
  });

  it('ignores unknown events', async () => {
    const { statuses } = await followed();
    hub.write('event: new-thing\ndata: {"a":1}\n\nevent: elicitation-updated\ndata: not json\n\n');
    hub.write('event: elicitation-updated\ndata: {"elicitationId":"q","status":"snoozed"}\n\nid: 5\n\n');
    hub.put({ elicitationId: 'q', status: 'accepted' });
    await until(() => expect(statuses).toEqual(['pending', 'accepted']));
    expect(hub.count(INBOX)).toBe(1);
  });

  it('calls no listener once it is closed', async () => {
    const { statuses, states } = await followed();
    server.close();
    await until(() => expect(hub.streams()).toBe(0));
    hub.putSilently({ elicitationId: 'q', status: 'accepted' });
    await server.read('q');
    expect(statuses).toEqual(['pending']);
    expect(states.at(-1)).toBe('live');
  });
});

describe('the page', () => {
  const opened: ElicitationServer[] = [];
  afterEach(() => {
    for (const each of opened.splice(0)) each.close();
  });

  /** A server of its own, with the page that it looks at. */
  function pageOf(options: Partial<ElicitationServerOptions> = {}) {
    const page = fakePage();
    const own = connect({ page, ...options });
    opened.push(own);
    return { page, own };
  }

  it('has no stream while it is hidden for long, and catches up when it is shown', async () => {
    const { page, own } = pageOf();
    const { statuses, stop } = await followed(own);
    page.fire('hidden');
    await until(() => expect(hub.streams()).toBe(0));
    hub.putSilently({ elicitationId: 'q', status: 'opened' });
    page.fire('shown');
    await until(() => expect(statuses).toEqual(['pending', 'opened']));
    await until(() => expect(hub.streams()).toBe(1));
    stop();
    await until(() => expect(page.listeners.size).toBe(0));
  });

  it('keeps its stream when it is hidden for a moment', async () => {
    const { page, own } = pageOf({ hiddenMs: 60_000 });
    const { statuses } = await followed(own);
    page.fire('hidden');
    page.fire('shown');
    hub.put({ elicitationId: 'q', status: 'declined' });
    await until(() => expect(statuses).toEqual(['pending', 'declined']));
    expect(hub.count(INBOX)).toBe(1);
  });

  it('polls once more when it is shown while an earlier poll waits for its reply', async () => {
    const { page, own } = pageOf();
    const before = hub.put({ elicitationId: 'q' });
    const { statuses, states } = follow('q', own);
    await live(states);
    await until(() => expect(statuses).toEqual(['pending']));
    let reply: (() => void) | undefined;
    hub.before = (req, res) => {
      if (reply !== undefined || req.url?.endsWith('/q') !== true) return false;
      reply = () => json(res, 200, before);
      return true;
    };
    page.fire('shown');
    await until(() => expect(reply).toBeDefined());
    hub.putSilently({ elicitationId: 'q', status: 'accepted' });
    page.fire('shown');
    reply?.();
    await until(() => expect(statuses).toEqual(['pending', 'accepted']));
  });

  it('is offline at once with the event offline, and reconnects with online', async () => {
    const { page, own } = pageOf();
    const { states } = await followed(own);
    page.fire('offline');
    expect(states.at(-1)).toBe('offline');
    page.fire('online');
    await live(states);
    expect(hub.streams()).toBe(1);
  });
});

describe('the inbox', () => {
  function followInbox(by: ElicitationServer = server) {
    const lists: string[][] = [];
    const states: Connection[] = [];
    const stop = by.followInbox(
      (open: readonly Elicitation[]) => lists.push(open.map(({ elicitationId }) => elicitationId)),
      (state) => states.push(state),
    );
    return { lists, states, stop, latest: () => lists.at(-1) };
  }

  it('delivers all open questions, newest first, on every change', async () => {
    for (const elicitationId of ['a', 'b']) hub.put({ elicitationId });
    hub.put({ elicitationId: 'old', status: 'accepted' });
    const { lists, states } = followInbox();
    await live(states);
    expect(lists).toEqual([['b', 'a']]);
    hub.put({ elicitationId: 'c' });
    hub.put({ elicitationId: 'a', status: 'declined' });
    await until(() =>
      expect(lists).toEqual([
        ['b', 'a'],
        ['c', 'b', 'a'],
        ['c', 'b'],
      ]),
    );
  });

  it('gets the known list at once when it follows later', async () => {
    await followed();
    expect(followInbox().lists).toEqual([['q']]);
  });

  it('removes a question that was answered here, even if an older list arrives later', async () => {
    const asked = hub.put({ elicitationId: 'q' });
    const { states, latest } = followInbox();
    await live(states);
    await server.answer('q', { action: 'decline' });
    expect(latest()).toEqual([]);
    hub.putSilently({ ...asked });
    hub.cutStreams();
    await until(() => expect(hub.count(INBOX)).toBe(2));
    await live(states);
    expect(latest()).toEqual([]);
  });

  it('is read page by page while there is no stream', async () => {
    hub.before = (req, res) => {
      if (req.url?.includes('/inbox/events')) {
        problem(res, 503, 'unavailable');
      } else {
        const isSecond = req.url?.includes('cursor=x%2Fy') === true;
        const one = { elicitationId: isSecond ? 'b' : 'a', mode: 'form', message: '', status: 'pending' };
        json(res, 200, { elicitations: [one, { odd: true }], ...(!isSecond && { nextCursor: 'x/y' }) });
      }
      return true;
    };
    const { states, latest } = followInbox();
    await until(() => expect(latest()?.toSorted()).toEqual(['a', 'b']));
    expect(states).not.toContain('live');
  });
});
