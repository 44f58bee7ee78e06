import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDocument } from 'yaml';

/** The agents of agents.yaml. */
const AGENTS = ['support', 'releases'];

export interface Addresses {
  /** Base URL of the model's endpoint, and the model's name there. */
  readonly modelUrl: string;
  readonly model: string;
  /** The MCP endpoint of the tracker, and the issuer of its tokens. */
  readonly trackerUrl: string;
  readonly issuer: string;
  /** How long a person may take to answer an agent; by default, the value in agents.yaml. */
  readonly deadlineSeconds?: number | undefined;
}

/** Writes agents.yaml with these addresses to a temporary file, which `remove` deletes. */
export function writeConfiguration(addresses: Addresses): { readonly path: string; remove(): void } {
  const { modelUrl, model, trackerUrl, issuer, deadlineSeconds } = addresses;
  const file = parseDocument(readFileSync(new URL('./agents.yaml', import.meta.url), 'utf8'));
  file.setIn(['models', 'assistant', 'baseUrl'], modelUrl);
  file.setIn(['models', 'assistant', 'model'], model);
  file.setIn(['mcpServers', 'tracker', 'url'], trackerUrl);
  file.setIn(['connectors', 'tracker-account', 'issuer'], issuer);
  file.setIn(['connectors', 'tracker-account', 'resource'], trackerUrl);
  for (const agent of deadlineSeconds === undefined ? [] : AGENTS) {
    file.setIn(['agents', agent, 'limits', 'questionTimeoutSeconds'], deadlineSeconds);
  }
  const folder = mkdtempSync(join(tmpdir(), 'parley-demo-'));
  const path = join(folder, 'agents.yaml');
  writeFileSync(path, file.toString());
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
