import { createServer } from 'node:http';
import { ParleyError } from '@parley/shared/domain/errors';
import { expect, it } from 'vitest';
import { NO_OFFERING } from '../../../services/api/src/agents/tools/mcp-offer.ts';
import { createRouter } from '../../../services/api/src/http/router.ts';
import { createServe } from '../../../services/api/src/http/serve.ts';
import { challengeOf } from '../../../services/api/src/surfaces/mcp/metadata.ts';
import { recordAnswer } from '../../../services/api/src/surfaces/mcp/questions.ts';
import type { McpRouteDeps } from '../../../services/api/src/surfaces/mcp/routes.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import {
  beginSession,
  callMessage,
  exchange,
  initializeMessage,
  modern,
  modernCall,
} from '../../harness/mcp-clients/raw.ts';
import { newPerson, openMcpSite } from '../../harness/mcp-clients/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

it('names an address of its own to a request whose host is none', () => {
  const challenge = (host: string) =>
    challengeOf({}, { url: '/', headers: { host }, remoteAddress: '', requestId: '' });
  const metadata = '/.well-known/oauth-protected-resource/run/v1/mcp';
  expect(challenge('mcp.example:8080')).toContain(`"http://mcp.example:8080${metadata}"`);
  for (const host of ['x:99999', '[:::::]', '999.999.999.999', 'x y', ''])
    expect(challenge(host)).toContain(`"http://localhost${metadata}"`);
});

it('a refusal that fails is still a reply', async () => {
  const faults: unknown[] = [];
  const failing = { method: 'GET', path: '/failing', proof: { by: 'none' } } as const;
  const serve = createServe({
    authenticate: () => Promise.reject(new Error('unused')),
    limits: { call: async () => undefined, sent: async () => 0, body: async () => undefined },
    bodyBytesMax: 1_024,
    sse: { heartbeatMs: 1_000, slowReaderMs: 1_000, draining: new AbortController().signal },
    onDone: () => undefined,
    onFault: (error) => faults.push(String(error)),
    onStream: () => undefined,
  });
  const surface = {
    routes: [
      {
        ...failing,
        handle: () => Promise.reject(new ParleyError('not_found', 'Nothing is there.')),
        refuse: () => {
          throw new Error('the refusal failed');
        },
      },
    ],
  };
  const server = createServer(createRouter({ surfaces: [surface], corsOrigins: [], serve }));
  const port = await listenOnFreePort(server);
  try {
    const reply = await fetch(`http://127.0.0.1:${port}/failing`);
    expect([reply.status, await reply.json()]).toEqual([404, expect.objectContaining({ code: 'not_found' })]);
    expect(faults).toEqual(['Error: the refusal failed']);
  } finally {
    server.close();
  }
});

it('reads nothing for an answer over a budget', async () => {
  const calls: string[] = [];
  const engine = {
    read: async () => {
      calls.push('read');
      throw new ParleyError('unavailable', 'The store does not answer.');
    },
    answer: () => Promise.reject(new Error('unused')),
  };
  for (const id of ['no id', 'el_00AAAAAAAAAAAAAAAAAAAAAAAAAA']) {
    const admitted = Promise.reject(new ParleyError('rate_limited', 'Wait.', { retryAfterSeconds: 1 }));
    const caller = { kind: 'user', tenant: 't', userId: 'u' } as const;
    const answered = recordAnswer(engine, { caller, id, result: { action: 'accept' }, admitted });
    await expect(answered).rejects.toMatchObject({ code: 'rate_limited' });
  }
  expect(calls).toEqual([]);
});

it('shows a client nothing of an unexpected error, and reports it to the operator', async () => {
  const faults: string[] = [];
  const fail = async () => {
    throw new Error('secret of the store');
  };
  const site = await openMcpSite({
    turns: {
      findOffered: fail,
      listOffered: fail,
      content: NO_OFFERING.content,
    } as unknown as McpRouteDeps['turns'],
    onFault: (error) => faults.push(String(error)),
  });
  try {
    const [{ url = '' } = {}] = site.pods;
    const person = newPerson();
    const { token } = person;
    const headers = await beginSession(url, person);
    const list = modern('tools/list', {});
    const replies = [
      await exchange(url, callMessage(1, 'hello'), { token, headers }),
      await exchange(url, { jsonrpc: '2.0', id: 2, method: 'tools/list' }, { token, headers }),
      await modernCall(url, person, 'hello'),
      await exchange(url, list.body, { token, headers: list.headers }),
    ];
    for (const { messages } of replies) {
      expect(messages.at(-1)?.error).toMatchObject({ code: -32603, data: { code: 'internal' } });
      expect(JSON.stringify(messages)).not.toContain('secret');
    }
    expect(faults).toEqual(Array(4).fill('Error: secret of the store'));
  } finally {
    await site.stop();
  }
});

it('reports errors of the SDK to the operator without what they say, and no refusals of requests', async () => {
  const faults: Error[] = [];
  const site = await openMcpSite({
    extend: () => {
      throw new TypeError('secret of a request');
    },
    onFault: (error) => faults.push(error as Error),
  });
  try {
    const [{ url = '' } = {}] = site.pods;
    const { token } = newPerson();
    const list = modern('tools/list', {});
    const misfit = { ...list.headers, 'mcp-method': 'other' };
    await exchange(url, list.body, { token, headers: misfit });
    expect(faults).toEqual([]);
    await exchange(url, list.body, { token, headers: list.headers });
    await exchange(url, initializeMessage(), { token });
    expect(faults.map(({ name }) => name)).toEqual(['TypeError', 'TypeError']);
    for (const { stack } of faults) {
      expect(stack).toContain('refusals.test.ts');
      expect(stack).not.toContain('secret');
    }
  } finally {
    await site.stop();
  }
});

function idIn(data: unknown): string {
  const { elicitations } = data as { readonly elicitations: readonly { readonly elicitationId: string }[] };
  return elicitations[0]?.elicitationId ?? '';
}

it('counts a call that waits without a stream among the open streams of its user', async () => {
  const site = await openMcpSite({}, { userStreams: 1 });
  try {
    const [{ url = '', engine } = {}] = site.pods;
    const person = newPerson();
    const { token, tenant } = person;
    const headers = { ...(await beginSession(url, person)), accept: 'application/json' };
    const call = async (id: number, message: string) =>
      (await exchange(url, callMessage(id, message), { token, headers })).messages[0];
    const elicitationId: string = idIn((await call(1, 'page: waits'))?.error?.data);
    const consent = { jsonrpc: '2.0', id: elicitationId, result: { action: 'accept' } };
    await exchange(url, consent, { token, headers });
    const waiting = call(2, 'page: waits');
    let id = 3;
    const refused = async () => (await call(id++, `hello: ${id}`))?.error?.data?.code === 'rate_limited';
    await waitUntil(refused, { what: 'the waiting call to take the only place' });
    await engine?.complete({ caller: { kind: 'service', tenant }, id: elicitationId, surface: 'page' });
    expect((await waiting)?.result?.content?.[0]?.text).toContain('accepted');
    expect((await call(1_000, 'hello: after'))?.result).toBeDefined();
  } finally {
    await site.stop();
  }
});
