import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startEchoTools } from '../../../stand-ins/issue-tracker/echo.ts';
import {
  type IssueTrackerOptions,
  startIssueTracker,
} from '../../../stand-ins/issue-tracker/issue-tracker.ts';

// The suites call the tracker in all its ways. They rely on what it counts: a call without a token, a call that was
// executed twice, and an issue of somebody else would otherwise go unnoticed.

/** A tracker whose tokens are `token-of-<subject>`. */
async function start(options: Partial<IssueTrackerOptions> = {}) {
  const tracker = await startIssueTracker({
    verify: async (token) => {
      const subject = /^token-of-(\w+)$/.exec(token)?.[1];
      return subject === undefined ? undefined : { subject, scopes: ['issues'] };
    },
    ...options,
  });
  onTestFinished(() => tracker.stop());
  return tracker;
}

async function connect(url: string, headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'stand-in-tests', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
}

const signedIn = ({ url }: { url: string }, subject: string) =>
  connect(url, { authorization: `Bearer token-of-${subject}` });

function post(url: string, headers: Record<string, string> = {}) {
  const accept = 'application/json, text/event-stream';
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const all = { 'content-type': 'application/json', accept, ...headers };
  return fetch(url, { method: 'POST', headers: all, body });
}

describe('the issue tracker', () => {
  it('keeps the issues of each user apart', async () => {
    const tracker = await start();
    const [alice, bob] = [await signedIn(tracker, 'alice'), await signedIn(tracker, 'bob')];
    await alice.callTool({ name: 'create_issue', arguments: { title: 'Hers' } });
    const missing = await bob.callTool({ name: 'get_issue', arguments: { number: 3 } });
    expect(missing).toMatchObject({ isError: true, content: [{ text: 'There is no issue #3.' }] });
    expect(tracker.issuesOf('alice').map(({ title }) => title)).toContain('Hers');
    expect(tracker.counts()).toMatchObject({
      withoutToken: 0,
      unauthorized: 0,
      tools: { create_issue: 1, get_issue: 1 },
      executed: { create_issue: 1 },
      repeated: 0,
    });
  });

  it.each(['', 'Basic dTpw', 'Bearer', 'Bearer ', 'Bearertoken-of-alice'])(
    'refuses and counts a request without a token: "%s"',
    async (authorization) => {
      const tracker = await start();
      expect((await post(tracker.url, authorization === '' ? {} : { authorization })).status).toBe(401);
      expect(tracker.counts()).toMatchObject({ requests: 1, withoutToken: 1, unauthorized: 1, methods: {} });
    },
  );

  it('tells a wrong token from a missing one, from a missing scope and from an outage', async () => {
    const tracker = await start({ authorizationServer: 'http://127.0.0.1:9/', scopes: ['issues', 'more'] });
    const wrong = await post(tracker.url, { authorization: 'Bearer nonsense' });
    expect(wrong.headers.get('www-authenticate')).toMatch(
      /^Bearer error="invalid_token", scope="issues more"/,
    );
    const authorization = 'Bearer token-of-alice';
    const short = await post(tracker.url, { authorization });
    expect([short.status, short.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringContaining('error="insufficient_scope", scope="issues more"'),
    ]);
    expect(tracker.counts()).toMatchObject({ requests: 2, withoutToken: 0 });
    const alone = await start({ verify: () => Promise.reject(new Error('away')) });
    expect((await post(alone.url, { authorization })).status).toBe(503);
    expect(alone.counts()).toMatchObject({ withoutToken: 0, unauthorized: 0 });
  });

  it('counts what it executed although the reply was lost, and the repeat of it', async () => {
    const tracker = await start();
    const alice = await signedIn(tracker, 'alice');
    tracker.failNext({ kind: 'lost-reply' }, { tool: 'create_issue', subject: 'alice' });
    const call = { name: 'create_issue', arguments: { title: 'Once' } };
    await expect(alice.callTool(call)).rejects.toBeInstanceOf(Error);
    expect(tracker.counts()).toMatchObject({ executed: { create_issue: 1 }, repeated: 0 });
    await alice.callTool(call);
    expect(tracker.counts()).toMatchObject({ executed: { create_issue: 2 }, repeated: 1 });
  });
});

it('the echo tools count callers without the headers of the project', async () => {
  const echo = await startEchoTools({ headers: { 'x-project-key': 'k1' } });
  onTestFinished(() => echo.stop());
  await expect(connect(echo.url, { 'x-project-key': 'k2' })).rejects.toBeInstanceOf(Error);
  const { withoutToken } = echo.counts();
  expect(withoutToken).toBeGreaterThan(0);
  await (await connect(echo.url, { 'x-project-key': 'k1' })).callTool({
    name: 'echo',
    arguments: { text: '' },
  });
  expect(echo.counts()).toMatchObject({ withoutToken, tools: { echo: 1 } });
});
