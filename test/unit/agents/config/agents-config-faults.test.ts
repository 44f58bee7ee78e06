import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { AgentsConfigError } from '../../../../services/api/src/agents/config/fault.ts';
import { readAgentsConfig } from '../../../../services/api/src/agents/config/load.ts';

/** The environment of every file; a title may change it. */
const ENV = { API_KEY: 'k', TRACKER_TOKEN: 't' };
/** A secret that is known by its shape. Whole in a file, it would be taken for one that leaked. */
const TOKEN = `${'ghp_'}${'a1'.repeat(18)}`;

const MODELS = `models:
  fast: { provider: openai-compatible, baseUrl: https://models.example.com/v1, model: m }
`;
const AGENTS = `agents:
  support: { title: Support, model: fast, instructions: Help. }
`;
const SERVER = `${MODELS}${AGENTS}mcpServers:\n  tracker:\n    title: Tracker\n`;
/** How files begin. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  nothing: '',
  right: `${MODELS}${AGENTS}`,
  agent: `${MODELS}agents:\n  support:\n    title: Support\n    model: fast\n    instructions: Help.\n`,
  server: SERVER,
  http: `${SERVER}    transport: http\n    url: https://t.example.com/mcp\n`,
  stdio: `${SERVER}    transport: stdio\n    command: /opt/tracker\n`,
  connector: `${MODELS}${AGENTS}connectors:\n  account:\n    title: Tracker\n`,
  model: `${AGENTS}models:\n  fast:\n    model: m\n`,
};

const [, ...cases] = readFileSync(new URL('fixtures/wrong-files.txt', import.meta.url), 'utf8').split(
  /^== /m,
);

/** A case as the head of the file of cases says that it is written. */
function parse(text: string) {
  const [title = '', ...lines] = text.replace('%TOKEN%', TOKEN).trimEnd().split('\n');
  const [, name = '', beginning = '', env = '{}'] = /^(.*) \((\w+)\) ?(.*)$/.exec(title) ?? [];
  const marked = (sign: string) =>
    lines.filter((line) => line.startsWith(sign)).map((line) => line.slice(sign.length));
  const changed = marked('~ ').reduce((file, change) => {
    const [from = '', to = ''] = change.split(' => ');
    expect(file.split(from), change).toHaveLength(2);
    return file.replace(from, () => to);
  }, BEGINNINGS[beginning] ?? '');
  const rest = lines.filter((line) => !/^[~!] /.test(line)).join('\n');
  return {
    name,
    yaml: `${changed}${rest}`,
    faults: marked('! '),
    env: { ...ENV, ...(JSON.parse(env || '{}') as Record<string, string>) },
  };
}

it.each(cases.map(parse))('reports $name with its place', ({ yaml, faults, env }) => {
  const { text, places } = unmarked(yaml);
  expect(places.length, 'marks and faults').toBe(faults.length);
  expect(faultsOf(text, env)).toEqual(faults.map((fault, index) => `agents.yaml:${places[index]}: ${fault}`));
});

function faultsOf(text: string, env: Readonly<Record<string, string>>): string[] {
  try {
    readAgentsConfig(text, 'agents.yaml', env);
    return [];
  } catch (error) {
    if (!(error instanceof AgentsConfigError)) throw error;
    expect(error.message).not.toMatch(/hunter2|hünter|JBSWY3DPEHPK3PXP|a1a1/);
    const [head, ...lines] = error.message.split('\n');
    expect(head).toBe('The agents configuration is not usable:');
    return lines.map((line) => line.replace('  - ', ''));
  }
}

/** The text without its marks, and the `line:column` of each. */
function unmarked(marked: string): { text: string; places: string[] } {
  const [first = '', ...parts] = marked.split('^');
  let text = first;
  const places: string[] = [];
  for (const part of parts) {
    const lines = text.split('\n');
    places.push(`${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`);
    text += part;
  }
  return { text, places };
}
