import { afterEach, describe, expect, it } from 'vitest';
import type { McpServerRef } from '../../../services/api/src/agents/mcp/calls/mcp-tools.ts';
import type { McpAsker } from '../../../services/api/src/agents/mcp/questions/asker.ts';
import type { McpCallReply } from '../../../services/api/src/agents/mcp/results.ts';
import type { Offered } from '../../harness/mcp-servers/mcp-servers.ts';
import { createRevisionServers } from '../../harness/mcp-servers/revisions.ts';
import { createMcpBench, httpConfig, saidIn, stdioConfig } from '../../harness/mcp-servers/setup.ts';

const bench = createMcpBench();
afterEach(bench.close);

const ADA = { person: 'ada', modes: { form: true, url: true } };
const BERN = { action: 'accept', content: { city: 'Bern' } };
const OLDER = '2025-11-25';
const NEWER = '2026-07-28';
const SETTINGS = [undefined, OLDER, NEWER] as const;

/** Makes a call, and answers what the tool asks in either way. Tells what came of it in a word or two. */
async function outcomeOf(ref: McpServerRef, tool: string): Promise<string> {
  let asked = 0;
  const asker: McpAsker = {
    async ask(read) {
      read();
      asked += 1;
      return BERN as never;
    },
    visit: async () => 'done',
  };
  let result: McpCallReply = await ref.call(tool, {}, { asker });
  if (result.type === 'round') {
    asked += 1;
    result = await ref.call(tool, {}, { asker, answers: { inputResponses: { city: BERN } } });
  }
  const text = saidIn(result);
  const namesSetting = text.includes(`mcpServers.${ref.id}.protocol`);
  const revision = [NEWER, OLDER].find((one) => text.includes(`MCP ${one}`));
  if (result.type === 'refused' && namesSetting) return `refuses ${revision}`;
  if (result.type === 'input_required' && namesSetting) return `needs ${revision}`;
  if (result.type !== 'result' || result.isError) return `fails: ${text}`;
  return asked === 1 ? text : `asks ${asked} times: ${text}`;
}

const asksIn = (revision: string) => `${revision === NEWER ? 'modern' : 'legacy'} ${JSON.stringify(BERN)}`;
const needs = (revision: string) => `needs ${revision}`;
const refuses = (revision: string) => `refuses ${revision}`;
const cannotAsk = 'fails: Client does not support form elicitation.';

/** What a server offers, a tool, and what comes of its calls with `auto`, 2025-11-25 and 2026-07-28. */
type Row = [Offered, string, [string, string, string]];
const ROWS: Row[] = [
  ['both', 'push', [asksIn(OLDER), asksIn(OLDER), needs(OLDER)]],
  ['both', 'rounds', [asksIn(OLDER), asksIn(OLDER), asksIn(NEWER)]],
  ['new', 'push', [needs(OLDER), refuses(OLDER), needs(OLDER)]],
  ['new', 'rounds', [asksIn(NEWER), refuses(OLDER), asksIn(NEWER)]],
  ['old', 'push', [asksIn(OLDER), asksIn(OLDER), refuses(NEWER)]],
];

describe.each(SETTINGS)('with `protocol: %s`', (revision) => {
  const expected = (row: Row) => row[2][SETTINGS.indexOf(revision)];

  it.each<Row>([
    ...ROWS,
    ['stateless', 'push', [needs(OLDER), cannotAsk, needs(OLDER)]],
    ['stateless', 'rounds', [asksIn(NEWER), needs(NEWER), asksIn(NEWER)]],
  ])('an HTTP server that offers `%s` is called as it can ask by `%s`', async (...row) => {
    const [offered, tool] = row;
    const { typescript, calls } = createRevisionServers();
    const server = await bench.server({ revision: offered, make: typescript });
    const ref = bench.client().open({ ...httpConfig(server.url), revision }, undefined, ADA);
    expect(await outcomeOf(ref, tool)).toBe(expected(row));
    // A round is one more call, with its answers; the bridge of the SDK calls its tool by itself.
    expect(calls.get(tool) ?? 0).toBeLessThanOrEqual(tool === 'rounds' ? 2 : 1);
  });

  it.each<[string, [string, string, string]]>([
    ['python-elicit', [asksIn(OLDER), asksIn(OLDER), needs(OLDER)]],
    ['python-resolve', [asksIn(OLDER), asksIn(OLDER), asksIn(NEWER)]],
    // Its words do not say that the tool has only asked.
    ['python-rounds', [needs(NEWER), needs(NEWER), asksIn(NEWER)]],
    ['python-rounds.harmless', [asksIn(NEWER), needs(NEWER), asksIn(NEWER)]],
    ['fastmcp-elicit', [asksIn(OLDER), asksIn(OLDER), needs(OLDER)]],
    ['fastmcp-guard', [asksIn(NEWER), needs(NEWER), asksIn(NEWER)]],
  ])('a server of a Python stack is called as it can ask by `%s`', async (tool, outcomes) => {
    const { python, calls } = createRevisionServers();
    const server = await bench.server({ revision: 'both', make: python });
    const ref = bench.client().open({ ...httpConfig(server.url), revision }, undefined, ADA);
    await ref.listTools();
    expect(await outcomeOf(ref, tool)).toBe(outcomes[SETTINGS.indexOf(revision)]);
    const before = calls.get(tool) ?? 0;
    if (revision !== undefined) return;
    // What was learned holds for the next call.
    const again = await outcomeOf(ref, tool);
    expect(again).toBe(tool === 'python-rounds' ? asksIn(NEWER) : outcomes[0]);
    expect((calls.get(tool) ?? 0) - before).toBe(again === asksIn(NEWER) ? 2 : 1);
  });
});

// What differs from HTTP: how the revision is chosen, and what a refusal is. A program needs no session to ask.
it.each<[setting: (typeof SETTINGS)[number], offered: Offered, tool: string, outcome: string]>([
  [undefined, 'both', 'push', asksIn(OLDER)],
  [undefined, 'new', 'rounds', asksIn(NEWER)],
  [undefined, 'old', 'push', asksIn(OLDER)],
  [OLDER, 'new', 'rounds', refuses(OLDER)],
  [NEWER, 'old', 'push', refuses(NEWER)],
  [NEWER, 'both', 'rounds', asksIn(NEWER)],
])(
  'with `protocol: %s` a program that offers `%s` is called as it can ask by `%s`',
  async (revision, offered, tool, outcome) => {
    const config = { ...(await stdioConfig([offered, 'typescript'])), revision };
    expect(await outcomeOf(bench.client().open(config, undefined, ADA), tool)).toBe(outcome);
  },
);

describe('the revision of a server', () => {
  /** Opens servers under one name with one client, as when an update changes what a server offers. */
  async function successive(...offers: Offered[]) {
    const log: string[] = [];
    const tools = bench.client({}, undefined, (id, revision, reason) =>
      log.push(`${id} ${revision} ${reason}`),
    );
    const { typescript } = createRevisionServers();
    const servers = await Promise.all(offers.map((revision) => bench.server({ revision, make: typescript })));
    const refs = servers.map(
      ({ url }) =>
        (person: string) =>
          tools.open(httpConfig(url), undefined, { ...ADA, person }),
    );
    return { log, servers, refs };
  }

  it('is logged once with its reason, asked for once, and chosen anew when the server refuses it', async () => {
    const { log, servers, refs } = await successive('both', 'stateless', 'old');
    for (const ref of refs) for (const one of ['ada', 'bob']) await ref(one).call('rounds', {});
    expect(log).toEqual([
      'tracker 2025-11-25 can_ask',
      'tracker 2026-07-28 no_session',
      'tracker 2025-11-25 can_ask',
    ]);
    // The last refuses once what was known of the one before.
    expect(servers.map((server) => server.count('server/discover'))).toEqual([0, 2, 1]);
    expect(servers.map((server) => server.count('initialize'))).toEqual([2, 2, 2]);
  });

  it('is chosen anew after a tool could not ask in it', async () => {
    const { refs } = await successive('stateless', 'both');
    const [before, after] = refs.map((ref) => ref('ada'));
    if (before === undefined || after === undefined) throw new Error('no servers');
    expect(await outcomeOf(before, 'rounds')).toBe(asksIn(NEWER));
    expect(await outcomeOf(after, 'push')).toBe(needs(OLDER));
    expect(await outcomeOf(after, 'push')).toBe(asksIn(OLDER));
  });
});
