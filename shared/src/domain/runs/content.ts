import { z } from 'zod';
import type { Message } from './run.ts';

const TextPart = z.looseObject({ type: z.literal('text'), text: z.string() });

/** An image that a person sent: its bytes as base64, or its https address, which only the model's provider opens. */
export const FilePart = z.looseObject({
  type: z.literal('file'),
  mediaType: z.string(),
  data: z.string(),
  filename: z.string().optional(),
});
export type FilePart = z.infer<typeof FilePart>;

/** What a person sent and no model gets. `text` says so, to the person and to the model alike. */
export const LeftOutPart = z.looseObject({ type: z.literal('left-out'), text: z.string() });
export type LeftOutPart = z.infer<typeof LeftOutPart>;

const ContentPart = z.discriminatedUnion('type', [TextPart, FilePart, LeftOutPart]);
/** A part of a person's message as it is stored. */
export type ContentPart = z.infer<typeof ContentPart>;

/** The parts of a person's message. Parts of kinds that this version does not know are passed over. */
export function contentParts(content: unknown): readonly ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => {
    const read = ContentPart.safeParse(part);
    return read.success ? [read.data] : [];
  });
}

/** What was left out of these messages, as one paragraph; empty where everything was passed on. */
export function leftOutText(messages: readonly Message[]): string {
  return messages
    .flatMap(({ content }) => contentParts(content))
    .flatMap((part) => (part.type === 'left-out' ? [part.text] : []))
    .join(' ');
}

/** True for a file that is given by its address. */
export function isAddress({ data }: FilePart): boolean {
  return data.startsWith('https:');
}

/** How many bytes a file has; none where only its address is known. */
export function fileBytes(file: FilePart): number {
  if (isAddress(file)) return 0;
  const padding = file.data.endsWith('==') ? 2 : file.data.endsWith('=') ? 1 : 0;
  return (file.data.length * 3) / 4 - padding;
}

/** The sentence about a file that was left out; one without a name is called by its kind. */
export function leftOut(
  file: { readonly mediaType: string; readonly filename?: string | undefined },
  reason: string,
): LeftOutPart {
  const name = file.filename ?? (file.mediaType.startsWith('image/') ? 'An image' : 'A file');
  return { type: 'left-out', text: `${name} was left out: ${reason}.` };
}
