import { isRecord } from '@parley/core/domain/plain-record';
import { readableLine } from '@parley/core/domain/readable';
import { type ContentPart, leftOut } from '@parley/shared/domain/runs/content';
import { imageOfAddress, imageOfBytes, isDataUrl } from './read-image.ts';

/** The maximum number of parts in a person's message. Each omitted part adds a sentence. */
export const PARTS_MAX = 100;

const NAME_CHARACTERS_MAX = 120;
const TEXT_TYPES: readonly unknown[] = ['text', 'input_text', 'output_text'];
// Parts of earlier replies, and parts that clients add for themselves. The person has not sent them.
const OWN = /^(?:data-|tool-|source-|dynamic-tool$|reasoning$|step-start$|refusal$)/;

/**
 * Converts a part of a person's message, in the format of the AI SDK, of either OpenAI API, of ACP or of A2A: to text, an
 * image, or an omission with a reason. Undefined for parts that the person has not sent.
 */
export function readPart(part: unknown): ContentPart | undefined {
  if (!isRecord(part) || typeof part.type !== 'string' || OWN.test(part.type)) return undefined;
  if (!TEXT_TYPES.includes(part.type)) return readFile(part, part.type);
  const text = textOfPart(part);
  return text === '' ? undefined : { type: 'text', text };
}

/** The text of a part; empty for other kinds. */
export function textOfPart(part: unknown): string {
  return isRecord(part) && TEXT_TYPES.includes(part.type) && typeof part.text === 'string' ? part.text : '';
}

/** A file. The protocols put its content, type and name in different members. */
function readFile(part: Record<string, unknown>, type: string): ContentPart {
  const inner = [part.file, part.image_url, part.input_audio].find(isRecord) ?? {};
  const text = (...keys: readonly string[]) => firstText(keys.flatMap((key) => [part[key], inner[key]]));
  const filename = shownName(text('filename', 'name', 'title') ?? '');
  const declared = text('mediaType', 'mimeType')?.toLowerCase();
  const source = {
    mediaType: declared ?? (/image/u.test(type) ? 'image/*' : ''),
    ...(filename !== '' && { filename }),
  };
  const content = text('url', 'image_url', 'file_url', 'data', 'image', 'file_data')?.trim() ?? '';
  if (content === '')
    return leftOut(
      source,
      text('file_id') === undefined ? 'it has no content' : 'stored files are not known',
    );
  return /^[a-z][a-z0-9+.-]*:/iu.test(content.slice(0, 20)) && !isDataUrl(content)
    ? imageOfAddress(content, source)
    : imageOfBytes(content, source);
}

/** A file's name on one line, without invisible characters. */
function shownName(name: string): string {
  return beginningOf(readableLine(beginningOf(name)));
}

function beginningOf(text: string): string {
  return [...text.slice(0, 2 * NAME_CHARACTERS_MAX)].slice(0, NAME_CHARACTERS_MAX).join('');
}

function firstText(values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}
