import { NOT_APPLICABLE } from '../../test/conformance/not-applicable.ts';
import type { Standard } from './normative.ts';

const HELD_BY_KIT: Readonly<Record<string, readonly string[]>> = {
  'MCP26-11': ['input-required-result-request-state'],
  'MCP26-52': ['input-required-result-validate-input'],
  'MRTR-01': ['server-stateless'],
  'MRTR-02': ['sep-2322-client-request-state'],
  'MRTR-03': ['input-required-result-result-type'],
  'MRTR-04': ['input-required-result-unsupported-methods'],
  'MRTR-08': ['input-required-result-tampered-state'],
  'MRTR-09': ['input-required-result-tampered-state'],
  'MRTR-10': ['input-required-result-tampered-state'],
  'MRTR-18': ['input-required-result-multi-round'],
  'MRTR-24': ['sep-2322-client-request-state'],
  'MRTR-25': ['input-required-result-validate-input'],
  'MRTR-26': ['server-stateless'],
  'MRTR-28': ['input-required-result-missing-input-response'],
  'T25-01': ['dns-rebinding-protection'],
  'T25-09': ['sse-retry'],
  'T26-01': ['request-metadata'],
  'T26-02': ['server-stateless'],
  'T26-05': ['input-required-result-result-type'],
  'T26-06': ['server-stateless'],
  'T26-10': ['server-stateless'],
  'T26-13': ['http-standard-headers'],
  'T26-20': ['caching'],
  'T26-23': ['http-custom-headers', 'http-invalid-tool-headers'],
  'T26-27': ['json-schema-ref-no-deref'],
  'MCP25-07': ['elicitation-sep1034-client-defaults'],
  'MRTR-19': ['sep-2322-client-request-state'],
  'MRTR-21': ['sep-2322-client-request-state'],
  'MRTR-22': ['sep-2322-client-request-state'],
  'MRTR-23': ['sep-2322-client-request-state'],
};

/** Requirements that a test cannot hold, or that need no test, each with its reason. */
const REASONS: Readonly<Record<string, string>> = {
  'MCP25-12': 'Permission only: Parley always sends `mode`.',
  'MCP25-24': 'Permission only.',
  'MCP25-37':
    'By design: callers of `/run/v1/mcp` bring a token of the authorization server; no question grants access to Parley ([security](security.md)).',
  'MCP25-40':
    'By design: the person signs in on the connect pages, outside of the client ([connect](connect.md)).',
  'MCP25-41': 'By design: the vault stores and refreshes credentials ([security](security.md)).',
  'MCP25-63': 'By design: identity comes from verified tokens alone ([security](security.md)).',
  'MCP25-52':
    'Holds for the questions of Parley itself, which have no addresses in their fields. Texts of others are shown as text alone, never as links.',
  'MCP26-25':
    'By design: callers of `/run/v1/mcp` bring a token of the authorization server; no question grants access to Parley ([security](security.md)).',
  'MCP26-39':
    'Holds for the questions of Parley itself, which have no addresses in their fields. Texts of others are shown as text alone, never as links.',
  'MCP26-28':
    'By design: the person signs in on the connect pages, outside of the client ([connect](connect.md)).',
  'MCP26-29': 'By design: the vault stores and refreshes credentials ([security](security.md)).',
  'MCP26-50': 'By design: identity comes from verified tokens alone ([security](security.md)).',
  'MRTR-07': 'Permission only.',
  'T25-16':
    'Not followed for a client that calls a tool before its own `notifications/initialized`: questions are sent on the stream of a call alone, so the client has been answered by then, and a record of the notification would cost every call a read.',
  'SEC-07':
    'Does not apply: callers of Parley register no clients at it, so none of them shares a consent at a provider. Its clients there are configured, or registered by Parley for one connector. The consent page names the asker, the service and the permissions.',
  'SEC-10':
    'Does not apply: Parley issues no authorization codes. Its own redirect addresses are fixed: one for each connector, `/auth/callback/:id` ([connect](connect.md)).',
  'SEC-16': 'Parley opens no URLs: the browser of the person does, after their press on a link.',
};

/** Requirements that no test holds yet. */
const OPEN: readonly string[] = [];

/** The requirements of MCP, revisions 2025-11-25 and 2026-07-28. */
export const MCP: Standard = {
  rowsFile: 'infra/docs/mcp-rows.tsv',
  page: 'docs/mcp-normative.md',
  rowsCount: 245,
  head: [
    '# Requirements of MCP, and what holds them',
    '',
    'Written by `npm run docs`. The rows paraphrase what the revisions 2025-11-25 and 2026-07-28 demand of elicitation and of what it',
    'needs. A test holds a row by naming it in its title; `kit` is a scenario of the conformance kit, which `npm run conformance` runs against two',
    'pods. `npm test` fails for a row that nothing holds.',
  ],
  sections: [
    ['MCP25', 'Elicitation, 2025-11-25'],
    ['T25', 'Transport and life cycle, 2025-11-25'],
    ['MCP26', 'Elicitation, 2026-07-28'],
    ['MRTR', 'Requests of several rounds, 2026-07-28'],
    ['T26', 'Base and transport, 2026-07-28'],
    ['SAMP', 'Sampling and roots'],
    ['SEC', 'Security best practices'],
  ],
  heldByKit: HELD_BY_KIT,
  // A scenario proves nothing if one of its checks does not apply or only warns.
  notRun: NOT_APPLICABLE.flatMap(({ scenarios }) => scenarios.map((name) => name.split(':')[0] ?? name)),
  reasons: REASONS,
  open: OPEN,
};
