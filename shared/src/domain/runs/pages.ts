/** The MCP extension that clients declare when they can show the pages of servers (MCP Apps). */
export const APPS = 'io.modelcontextprotocol/ui';

/** The type of those pages. */
export const PAGE_TYPE = 'text/html;profile=mcp-app';
