import type { McpRevision } from '../server-config.ts';

/** What the reply to a call says: the server wanted to ask in a way that only another revision has. */
export interface RevisionNeed {
  readonly revision: McpRevision;
  /** True: the tool asked instead of running, so the same call may be made in the other revision. */
  readonly hasAskedInstead: boolean;
}

interface Sign extends RevisionNeed {
  /** The revision of the call. */
  readonly in: McpRevision;
  readonly words: RegExp;
}

const OLDER = { in: '2026-07-28', revision: '2025-11-25', hasAskedInstead: false } as const;
const NEWER = { in: '2025-11-25', revision: '2026-07-28', hasAskedInstead: true } as const;

/** The words of the SDKs, in an error or in a failed result. */
const SIGNS: readonly Sign[] = [
  // TypeScript SDK 2: `elicitInput` (and its kind), and the error -32042. The tool may have begun its work before.
  { ...OLDER, words: /not available on protocol revision 2026-07-28: '[a-z/]+' cannot be sent/i },
  { ...OLDER, words: /UrlElicitationRequiredError on protocol revision 2026-07-28/ },
  // Python SDK 2: `ctx.elicit()`.
  { ...OLDER, words: /no back-channel for server-initiated requests/ },
  // FastMCP 4: `ctx.elicit()`.
  { ...OLDER, words: /via server-initiated requests is unavailable on 2026-07-28/ },
  // TypeScript SDK 2: `inputRequired()` where its bridge is off, and where the server keeps no session.
  { ...NEWER, words: /returned an input-required result, but .{0,200}has no input_required vocabulary/ },
  { ...NEWER, words: /per-request legacy serving cannot receive server-to-client requests/ },
  // FastMCP 4: `InputRequiredResult`.
  { ...NEWER, words: /returned an InputRequiredResult .{0,200}only exists at MCP 2026-07-28/ },
  // Python SDK 2: `InputRequiredResult`, and any other result that the revision does not have.
  { ...NEWER, hasAskedInstead: false, words: /^Handler returned an invalid result$/ },
  // Python SDK 2 where the server keeps no session.
  { ...NEWER, hasAskedInstead: false, words: /no back-channel for server-initiated requests/ },
];

const TEXT_MAX = 2_000;

/** Reads the words of an error or of a failed result. Undefined when they say nothing about revisions. */
export function revisionNeededBy(text: string, revision: McpRevision): RevisionNeed | undefined {
  const said = text.slice(0, TEXT_MAX);
  return SIGNS.find((sign) => sign.in === revision && sign.words.test(said));
}
