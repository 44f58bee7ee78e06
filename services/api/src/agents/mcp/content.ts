import { type CallToolResult, SERVER_INFO_META_KEY } from '@modelcontextprotocol/client';
import { jsonBytes } from '@parley/shared/domain/json/bytes';
import type { McpContent, McpToolResult } from './results.ts';
import { withoutReturned } from './transports/door.ts';

type Block = CallToolResult['content'][number];

/** How a result is converted. */
interface ResultRules {
  /** The maximum size of the result. */
  readonly bytesMax: number;
  /** True if the result is also kept as the server sent it. */
  readonly whole?: true | undefined;
}

/** Converts a tool's result for models and people: without binary data, at most `bytesMax` in size. */
export function resultOf(result: CallToolResult, { bytesMax, whole }: ResultRules): McpToolResult {
  const kept = whole === true ? withoutName(withoutReturned(result)) : undefined;
  if (kept !== undefined && jsonBytes(kept) > bytesMax) return tooLarge(bytesMax);
  const content = result.content.map(contentOf);
  const { structuredContent: structured } = result;
  if (jsonBytes(content) + (structured === undefined ? 0 : jsonBytes(structured)) > bytesMax) {
    return tooLarge(bytesMax);
  }
  return {
    type: 'result',
    content,
    ...(structured !== undefined && { structuredContent: structured }),
    isError: result.isError === true,
    ...(kept !== undefined && { whole: kept }),
  };
}

/** The result without the server's name in `_meta`: clients of Parley get the result from Parley, whose name belongs there. */
function withoutName({ _meta = {}, ...result }: CallToolResult): CallToolResult {
  const { [SERVER_INFO_META_KEY]: _name, ...meta } = _meta;
  return { ...result, ...(Object.keys(meta).length > 0 && { _meta: meta }) };
}

/** Replaces a result that is larger than `bytesMax`. The tool has run. */
export function tooLarge(bytesMax: number): McpToolResult {
  const text = `The tool ran, but its result is larger than ${bytesMax} bytes and was dropped. Ask for less.`;
  const content = [{ type: 'text' as const, text }];
  return { type: 'result', content, isError: true, whole: { content, isError: true } };
}

/** The content as one text. Anything that is not text is described in brackets. */
export function textOf(content: readonly McpContent[]): string {
  return content.map(lineOf).join('\n');
}

function lineOf(content: McpContent): string {
  switch (content.type) {
    case 'text':
      return content.text;
    case 'link':
      return `[link: ${content.name}, ${content.uri}]`;
    case 'binary': {
      const { kind, mimeType, bytes, uri } = content;
      return `[${[kind, mimeType, `${bytes} bytes`, uri].filter((part) => part !== undefined).join(', ')}]`;
    }
  }
}

function contentOf(block: Block): McpContent {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      return { type: 'binary', kind: block.type, mimeType: block.mimeType, bytes: bytesOf(block.data) };
    case 'resource_link': {
      const { uri, name, mimeType, description } = block;
      return {
        type: 'link',
        uri,
        name,
        ...(mimeType !== undefined && { mimeType }),
        ...(description !== undefined && { description }),
      };
    }
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return { type: 'text', text: resource.text };
      const { uri, mimeType, blob } = resource;
      const bytes = bytesOf(blob);
      return { type: 'binary', kind: 'file', bytes, uri, ...(mimeType !== undefined && { mimeType }) };
    }
  }
}

function bytesOf(base64: string): number {
  return Buffer.byteLength(base64, 'base64');
}
