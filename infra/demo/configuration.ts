import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDocument } from 'yaml';

export interface Addresses {
  /** Base URL of the model's endpoint, and what it calls the model. */
  readonly modelUrl: string;
  readonly model: string;
  /** The MCP endpoint of the tracker, and the issuer of its tokens. */
  readonly trackerUrl: string;
  readonly issuer: string;
}

/** Writes agents.yaml with these addresses to a temporary file; `remove` takes it away again. */
export function writeConfiguration(addresses: Addresses): { readonly path: string; remove(): void } {
  const { modelUrl, model, trackerUrl, issuer } = addresses;
  const file = parseDocument(readFileSync(new URL('./agents.yaml', import.meta.url), 'utf8'));
  file.setIn(['models', 'assistant', 'baseUrl'], modelUrl);
  file.setIn(['models', 'assistant', 'model'], model);
  file.setIn(['mcpServers', 'tracker', 'url'], trackerUrl);
  file.setIn(['connectors', 'tracker-account', 'issuer'], issuer);
  file.setIn(['connectors', 'tracker-account', 'resource'], trackerUrl);
  const folder = mkdtempSync(join(tmpdir(), 'parley-demo-'));
  const path = join(folder, 'agents.yaml');
  writeFileSync(path, file.toString());
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
