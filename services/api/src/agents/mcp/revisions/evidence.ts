import { ProtocolError } from '@modelcontextprotocol/client';
import { RevisionRefused } from '../errors.ts';
import type { McpRevision } from '../server-config.ts';

/** The revision that a request would have needed. */
export interface NeededRevision {
  readonly revision: McpRevision;
  /** True if the same request may be repeated in that revision. */
  readonly isHarmless: boolean;
  /** True if the server does not accept the revision of the request, so the request was not executed. */
  readonly isRefused: boolean;
  /** The server's own words, truncated. */
  readonly words: string;
}

interface Sign {
  /** The revision that supports the server's way of asking. */
  readonly revision: McpRevision;
  /** True if the tool asked before it ran. */
  readonly hasAskedInstead: boolean;
  /** The revision of the call. */
  readonly in: McpRevision;
  readonly words: RegExp;
}

const OLDER = { in: '2026-07-28', revision: '2025-11-25', hasAskedInstead: false } as const;
const NEWER = { in: '2025-11-25', revision: '2026-07-28', hasAskedInstead: true } as const;

/**
 * Error texts of the SDKs, in an error or in a failed result. Texts that lead to a repetition must be at the beginning: a tool
 * that has run may quote other texts in its error.
 */
const SIGNS: readonly Sign[] = [
  // TypeScript SDK 2: `elicitInput` and related calls, and the error -32042. The tool may have begun its work before.
  { ...OLDER, words: /not available on protocol revision 2026-07-28: '[a-z/]+' cannot be sent/i },
  { ...OLDER, words: /UrlElicitationRequiredError on protocol revision 2026-07-28/ },
  // Python SDK 2: `ctx.elicit()`.
  { ...OLDER, words: /no back-channel for server-initiated requests/ },
  // FastMCP 4: `ctx.elicit()`.
  { ...OLDER, words: /via server-initiated requests is unavailable on 2026-07-28/ },
  // TypeScript SDK 2: `inputRequired()` if its bridge is off, if the server keeps no session, or if the client lacks the
  // requested capability. Only the newer revision has a code for the last case (-32021).
  {
    ...NEWER,
    words:
      /^Handler for tools\/call returned an input-required result, but .{0,200}has no input_required vocabulary/,
  },
  {
    ...NEWER,
    words:
      /^Cannot request input '.{0,200}: the client on this 2025-era connection did not declare the required capability/,
  },
  // FastMCP 4: `InputRequiredResult`.
  {
    ...NEWER,
    words: /^Tool '.{0,200}' returned an InputRequiredResult .{0,200}only exists at MCP 2026-07-28/,
  },
  // Python SDK 2: `InputRequiredResult`, and any other result that the revision does not know.
  { ...NEWER, hasAskedInstead: false, words: /^Handler returned an invalid result$/ },
  // Python SDK 2, if the server keeps no session.
  { ...NEWER, hasAskedInstead: false, words: /no back-channel for server-initiated requests/ },
];

/** The known facts about the failed call. */
interface CallSoFar {
  readonly isRepeatable: () => boolean;
  /** True if the server has asked something. The tool may have acted on the answer before it asked again. */
  readonly hasAsked: boolean;
}

const TEXT_MAX = 2_000;
const WORDS_MAX = 500;

/**
 * The other revision that a request needed, according to its error or the text of its failed result. Undefined if these do not
 * mention revisions. `revision` is that of the request; undefined if no server was reached.
 */
export function neededAfter(
  failure: unknown,
  revision: McpRevision | undefined,
  { isRepeatable, hasAsked }: CallSoFar,
): NeededRevision | undefined {
  if (failure instanceof RevisionRefused) {
    const other = failure.revision === '2026-07-28' ? '2025-11-25' : '2026-07-28';
    return { revision: other, isHarmless: true, isRefused: true, words: '' };
  }
  const text = failure instanceof ProtocolError ? failure.message : failure;
  if (typeof text !== 'string') return undefined;
  const said = text.slice(0, TEXT_MAX);
  const sign = SIGNS.find((one) => one.in === revision && one.words.test(said));
  if (sign === undefined) return undefined;
  const isHarmless = (sign.hasAskedInstead && !hasAsked) || isRepeatable();
  return { revision: sign.revision, isHarmless, isRefused: false, words: said.slice(0, WORDS_MAX) };
}
