import { type ContentBlock, RequestError } from '@agentclientprotocol/sdk';

/** The text of a prompt, as the model reads it. Throws `-32602` for content that `initialize` did not offer. */
export function promptText(prompt: readonly ContentBlock[]): string {
  return prompt.map(blockText).join('\n\n');
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return `[${block.title ?? block.name}](${block.uri})`;
    case 'resource':
      if ('text' in block.resource) return `Contents of ${block.resource.uri}:\n\n${block.resource.text}`;
  }
  throw RequestError.invalidParams(undefined, `Content of type ${block.type} is not supported.`);
}
