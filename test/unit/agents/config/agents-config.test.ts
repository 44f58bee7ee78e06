import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentsPage } from '../../../../infra/docs/agents-page.ts';
import { AgentsConfigError } from '../../../../services/api/src/agents/config/fault.ts';
import { loadAgentsConfig, readAgentsConfig } from '../../../../services/api/src/agents/config/load.ts';

const EXAMPLE = fileURLToPath(new URL('fixtures/example.yaml', import.meta.url));
const SECRETS = {
  MODELS_API_KEY: 'canary-model-key',
  DOCS_AUTHORIZATION: 'Bearer canary-docs-key',
  TRACKER_CLIENT_SECRET: 'canary-client-secret',
};

describe('the example', () => {
  const { config, secretOf, warnings } = loadAgentsConfig(EXAMPLE, { ...SECRETS, NODE_ENV: 'production' });

  it('is parsed, with defaults filled in', () => {
    expect(warnings).toEqual([]);
    expect(config.defaultAgent).toBe('support');
    expect(config.a2aOffer?.agents).toEqual([
      { agent: 'support', description: 'Answers questions about issues.', answers: 'user' },
    ]);
    expect(config.agents.librarian).toEqual({
      id: 'librarian',
      title: 'Librarian',
      model: 'assistant',
      instructions: 'Answer from the documentation and name the page.',
      tools: [{ server: 'documentation', pages: false }],
      delegates: [],
      // A delegate, so nobody outside addresses it.
      access: { callers: [] },
      elicit: false,
      limits: {
        steps: 20,
        tokens: 200_000,
        turnTimeoutSeconds: 600,
        toolTimeoutSeconds: 60,
        questionTimeoutSeconds: 600,
        questionsPerCall: 20,
        samplesPerCall: 5,
        sampleTokens: 2_000,
      },
    });
    expect(config.agents.support?.limits).toMatchObject({ steps: 12, questionTimeoutSeconds: 900 });
    expect(config.mcpServers.tracker).toMatchObject({
      elicitation: true,
      sampling: false,
      headersFromEnv: {},
    });
    expect(config.connectors['tracker-account']).toMatchObject({ authorizationParameters: {} });
  });

  it('returns the secrets that it names and no other variable', () => {
    expect(secretOf('DOCS_AUTHORIZATION')).toBe('Bearer canary-docs-key');
    expect(() => secretOf('NODE_ENV')).toThrow('names no such environment variable');
  });

  it('may be logged: it contains no secret', () => {
    const loaded = loadAgentsConfig(EXAMPLE, SECRETS);
    expect(JSON.stringify(loaded.config)).toContain('MODELS_API_KEY');
    for (const text of [JSON.stringify(loaded), inspect(loaded, { depth: 20, showHidden: true })]) {
      expect(text).not.toContain('canary');
    }
  });

  it('has no inherited entries', () => {
    for (const id of ['constructor', 'toString', '__proto__']) expect(config.agents[id]).toBeUndefined();
  });

  it('and the reference on docs/agents.md are current (npm run docs writes them)', () => {
    const page = readFileSync(new URL('../../../../docs/agents.md', import.meta.url), 'utf8');
    const example = readFileSync(EXAMPLE, 'utf8');
    expect(page).toContain(example.trimEnd());
    expect(page).toBe(agentsPage(page, example));
  });
});

describe('faults and warnings', () => {
  const base = readFileSync(EXAMPLE, 'utf8');

  it('warn of unused entries, with their place', () => {
    const { warnings } = readAgentsConfig(
      `
models:
  fast: { provider: openai-compatible, baseUrl: http://localhost:1234/v1, model: m }
  slow: { provider: openai-compatible, baseUrl: http://localhost:1234/v1, model: m }
agents:
  support: { title: Support, model: fast, instructions: Help. }
mcpServers:
  tracker: { title: T, transport: stdio, command: /opt/tracker, credentialScope: none }
connectors:
  account: { type: api_key, title: T, instructions: Look. }
`,
      'agents.yaml',
      {},
    );
    expect(warnings).toEqual([
      'agents.yaml:4:3: models.slow: is not used',
      'agents.yaml:8:3: mcpServers.tracker: is not used',
      'agents.yaml:10:3: connectors.account: is not used',
    ]);
  });

  it('never contain a secret of the environment', () => {
    const env = { ...SECRETS, MODELS_API_KEY: 'canary\n', DOCS_AUTHORIZATION: 'canary\u00e9' };
    const error = faultOf(() => readAgentsConfig(`${base}\nrest: 1`, 'agents.yaml', env));
    expect(error.faults.map(({ path }) => path)).toEqual([
      'models.assistant.apiKeyEnv',
      'mcpServers.documentation.headersFromEnv.Authorization',
      'rest',
    ]);
    expect(`${error.message}${JSON.stringify(error)}`).not.toContain('canary');
  });

  it('allow any text in the variables of a stdio server', () => {
    const { secretOf } = readAgentsConfig(
      `
models: { m: { provider: openai-compatible, baseUrl: http://localhost:1234/v1, model: m } }
agents: { a: { title: A, model: m, instructions: Help., tools: [{ server: s }] } }
mcpServers: { s: { title: S, transport: stdio, command: s, env: [PATH, SIGNING_KEY], credentialScope: project } }
`,
      'agents.yaml',
      { SIGNING_KEY: 'line\nline\n', PATH: '/opt' },
    );
    expect(secretOf('SIGNING_KEY')).toBe('line\nline\n');
  });
});

describe('the file itself', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-agents-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const messageOf = (name: string) => faultOf(() => loadAgentsConfig(join(folder, name), SECRETS)).faults;

  it('must be there, a file, text, not empty and no larger than 1 MB', () => {
    expect(messageOf('none.yaml')).toEqual([{ path: '', message: 'cannot be read: there is no such file' }]);
    expect(messageOf('.')).toEqual([{ path: '', message: 'is not a file' }]);
    writeFileSync(join(folder, 'latin.yaml'), Buffer.from([0x61, 0xe9]));
    expect(messageOf('latin.yaml')).toEqual([{ path: '', message: 'is not UTF-8 text' }]);
    writeFileSync(join(folder, 'large.yaml'), '#');
    truncateSync(join(folder, 'large.yaml'), 1_048_577);
    expect(messageOf('large.yaml')).toEqual([{ path: '', message: 'is larger than 1048576 bytes' }]);
    for (const text of ['', '# nothing\n', '---\n', 'null\n']) {
      writeFileSync(join(folder, 'empty.yaml'), text);
      expect(messageOf('empty.yaml')).toEqual([{ path: '', message: 'is empty' }]);
    }
  });

  it('may begin with a byte order mark and end its lines as Windows does', () => {
    writeFileSync(
      join(folder, 'windows.yaml'),
      `\ufeff${readFileSync(EXAMPLE, 'utf8').replaceAll('\n', '\r\n')}`,
    );
    expect(loadAgentsConfig(join(folder, 'windows.yaml'), SECRETS).config.defaultAgent).toBe('support');
  });
});

function faultOf(read: () => unknown): AgentsConfigError {
  try {
    read();
  } catch (error) {
    if (error instanceof AgentsConfigError) return error;
    throw error;
  }
  throw new Error('The configuration was taken.');
}
