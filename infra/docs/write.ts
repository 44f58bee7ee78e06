import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readCosts } from '../../test/runner/costs.ts';
import { readSources } from '../house/check-house.ts';
import { readmeWithPages } from '../site/lists.ts';
import { mainGroupsOf } from '../site/navigation.ts';
import { A2A } from './a2a-held.ts';
import { ACP } from './acp-held.ts';
import { agentsPage } from './agents-page.ts';
import { architecturePage } from './architecture-page.ts';
import { configurationPage } from './configuration-page.ts';
import { consoleTypes } from './console-types.ts';
import { cliPage } from './doctor-table.ts';
import { MCP } from './mcp-held.ts';
import { findHoldingTests, normativePage, readRows } from './normative.ts';
import { plantedDefectsPage, testingPage } from './testing-page.ts';

const root = new URL('../../', import.meta.url);

writeFileSync(new URL('docs/configuration.md', root), configurationPage());

const readme = new URL('README.md', root);
writeFileSync(readme, readmeWithPages(readFileSync(readme, 'utf8'), mainGroupsOf(fileURLToPath(root))));

const agents = new URL('docs/agents.md', root);
const example = new URL('test/unit/agents/config/fixtures/example.yaml', root);
writeFileSync(agents, agentsPage(readFileSync(agents, 'utf8'), readFileSync(example, 'utf8')));

const architecture = new URL('docs/architecture.md', root);
writeFileSync(
  architecture,
  architecturePage(readFileSync(architecture, 'utf8'), readSources(fileURLToPath(root))),
);

writeFileSync(new URL('clients/console/src/api/replies.ts', root), consoleTypes());

const cli = new URL('docs/cli.md', root);
writeFileSync(cli, cliPage(readFileSync(cli, 'utf8')));

const testing = new URL('docs/testing.md', root);
writeFileSync(testing, testingPage(readFileSync(testing, 'utf8'), readCosts()));
writeFileSync(new URL('docs/planted-defects.md', root), plantedDefectsPage());

const tests = findHoldingTests(fileURLToPath(root));
for (const standard of [MCP, ACP, A2A]) {
  const page = normativePage(standard, readRows(fileURLToPath(root), standard), tests);
  writeFileSync(new URL(standard.page, root), page);
}
