import { type ContentBlock, RequestError } from '@agentclientprotocol/sdk';

/** A part of a message in the form of the chat API. */
export type PromptPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'file'; readonly mediaType: string; readonly url: string };

const GAP = '\n\n';

/**
 * Converts a prompt to message parts: its texts as paragraphs, then its images. The server reports what the agent does not
 * accept. Throws `-32602` for content that `initialize` did not offer.
 */
export function promptParts(prompt: readonly ContentBlock[]): PromptPart[] {
  const images = prompt.filter(({ type }) => type === 'image') as Extract<ContentBlock, { type: 'image' }>[];
  const text = prompt
    .filter(({ type }) => type !== 'image')
    .map(blockText)
    .join(GAP);
  return [
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...images.map(({ mimeType, data }) => ({
      type: 'file' as const,
      mediaType: mimeType,
      url: `data:${mimeType};base64,${data}`,
    })),
  ];
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return `[${block.title ?? block.name}](${block.uri})`;
    case 'resource':
      if ('text' in block.resource) return `Contents of ${block.resource.uri}:${GAP}${block.resource.text}`;
  }
  throw RequestError.invalidParams(undefined, `Content of type ${block.type} is not supported.`);
}
