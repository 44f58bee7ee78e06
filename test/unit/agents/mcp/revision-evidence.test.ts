import { expect, it } from 'vitest';
import { neededAfter } from '../../../../services/api/src/agents/mcp/revisions/evidence.ts';
import type { McpRevision } from '../../../../services/api/src/agents/mcp/server-config.ts';

const OLDER = '2025-11-25';
const NEWER = '2026-07-28';
const NO_WAY =
  "Cannot send 'elicitation/create': this transport context has no back-channel for server-initiated requests.";
const ASKED =
  'Handler for tools/call returned an input-required result, but this request is served on protocol revision 2025-11-25, which has no input_required vocabulary';

it.each<[string, McpRevision, [McpRevision, boolean] | undefined]>([
  [
    "Server-to-client requests are not available on protocol revision 2026-07-28: 'elicitation/create' cannot be sent while serving a request on that revision. Return inputRequired({ ... })",
    NEWER,
    [OLDER, false],
  ],
  [
    'URL elicitation cannot be signalled by throwing UrlElicitationRequiredError on protocol revision 2026-07-28: return inputRequired(',
    NEWER,
    [OLDER, false],
  ],
  [NO_WAY, NEWER, [OLDER, false]],
  [NO_WAY, OLDER, [NEWER, false]],
  [
    "Error calling tool 'book': elicitation via server-initiated requests is unavailable on 2026-07-28 connections.",
    NEWER,
    [OLDER, false],
  ],
  [ASKED, OLDER, [NEWER, true]],
  [
    "Cannot request input 'city' (elicitation/create): the client on this 2025-era connection did not declare the required capability (no client capabilities are available on this connection — per-request legacy serving cannot receive server-to-client requests)",
    OLDER,
    [NEWER, true],
  ],
  [
    "Cannot request input 'text' (sampling/createMessage): the client on this 2025-era connection did not declare the required capability",
    OLDER,
    [NEWER, true],
  ],
  [
    "Tool 'book' returned an InputRequiredResult to request client input, but the multi-round-trip result type (SEP-2322) only exists at MCP 2026-07-28; this connection negotiated '2025-11-25'.",
    OLDER,
    [NEWER, true],
  ],
  ['Handler returned an invalid result', OLDER, [NEWER, false]],
  ['Handler returned an invalid result', NEWER, undefined],
  ['The ticket says: Handler returned an invalid result', OLDER, undefined],
  [`The ticket says: ${ASKED}`, OLDER, undefined],
  ['The client does not support elicitation.', OLDER, undefined],
  [`${'x'.repeat(5_000)} ${NO_WAY}`, NEWER, undefined],
])('a reply of %j in %s says which revision the server needed', (text, revision, expected) => {
  const need = neededAfter(text, revision, { isRepeatable: () => false, hasAsked: false });
  expect(need && [need.revision, need.isHarmless]).toEqual(expected);
});

it('a call that has asked before may have acted on the answer, and is repeated only where that is harmless', () => {
  const isHarmless = (isRepeatable: boolean) =>
    neededAfter(ASKED, OLDER, { isRepeatable: () => isRepeatable, hasAsked: true })?.isHarmless;
  expect([isHarmless(false), isHarmless(true)]).toEqual([false, true]);
});
