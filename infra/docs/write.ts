import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readSources } from '../house/check-house.ts';
import { A2A } from './a2a-held.ts';
import { ACP } from './acp-held.ts';
import { agentsPage } from './agents-page.ts';
import { architecturePage } from './architecture-page.ts';
import { configurationPage } from './configuration-page.ts';
import { MCP } from './mcp-held.ts';
import { findHoldingTests, normativePage, readRows } from './normative.ts';

const root = new URL('../../', import.meta.url);

writeFileSync(new URL('docs/configuration.md', root), configurationPage());

const agents = new URL('docs/agents.md', root);
const example = new URL('test/unit/agents/config/fixtures/example.yaml', root);
writeFileSync(agents, agentsPage(readFileSync(agents, 'utf8'), readFileSync(example, 'utf8')));

const architecture = new URL('docs/architecture.md', root);
writeFileSync(
  architecture,
  architecturePage(readFileSync(architecture, 'utf8'), readSources(fileURLToPath(root))),
);

const tests = findHoldingTests(fileURLToPath(root));
for (const standard of [MCP, ACP, A2A]) {
  const page = normativePage(standard, readRows(fileURLToPath(root), standard), tests);
  writeFileSync(new URL(standard.page, root), page);
}
