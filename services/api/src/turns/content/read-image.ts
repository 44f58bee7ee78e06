import { type ContentPart, leftOut } from '@parley/shared/domain/runs/content';
import { bytesOfBase64 } from './base64.ts';

const ADDRESS_MAX = 2_048;
const ONLY_IMAGES = 'only images (PNG, JPEG, GIF, WebP) can be passed on';
const ANY_IMAGE = 'image/*';
// Media types that clients use for files of any kind.
const UNNAMED_TYPES: readonly string[] = ['', 'application/octet-stream'];

// The first bytes of each type, in hexadecimal.
const SIGNATURES: readonly (readonly [mediaType: string, pattern: RegExp])[] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^474946383[79]61/],
  ['image/webp', /^52494646.{8}57454250/],
];

/** The supported types of images. */
export const IMAGE_TYPES: readonly string[] = SIGNATURES.map(([mediaType]) => mediaType);

/** A client's description of a file. */
interface FileSource {
  /** In lower case. */
  readonly mediaType: string;
  readonly filename?: string;
}

/** An image by its URL, which must use https and contain no password. Only the name tells its type. */
export function imageOfAddress(address: string, source: FileSource): ContentPart {
  if (!mayBeImage(source.mediaType)) return leftOut(source, ONLY_IMAGES);
  const url = address.length <= ADDRESS_MAX && URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || url.protocol !== 'https:' || url.username !== '' || url.password !== '')
    return leftOut(source, `its address must be one of https with at most ${ADDRESS_MAX} characters`);
  const mediaType = IMAGE_TYPES.includes(source.mediaType) ? source.mediaType : ANY_IMAGE;
  return { type: 'file', ...source, mediaType, data: url.href };
}

/**
 * An image by its bytes: a data URL, or only base64. The bytes determine its type, because models refuse an image whose type is
 * wrong.
 */
export function imageOfBytes(content: string, source: FileSource): ContentPart {
  const comma = isDataUrl(content) ? content.indexOf(',') : -1;
  const [declared = '', ...options] = content
    .slice('data:'.length, Math.max(0, comma))
    .toLowerCase()
    .split(';');
  const file = { ...source, mediaType: declared === '' ? source.mediaType : declared };
  if (!mayBeImage(file.mediaType)) return leftOut(file, ONLY_IMAGES);
  const isBase64 = comma < 0 || options.at(-1) === 'base64';
  const data = isBase64 ? bytesOfBase64(content.slice(comma + 1))?.toString('base64') : undefined;
  if (data === undefined) return leftOut(file, 'its content is no base64');
  const head = Buffer.from(data.slice(0, 32), 'base64').toString('hex');
  const mediaType = SIGNATURES.find(([, pattern]) => pattern.test(head))?.[0];
  return mediaType === undefined ? leftOut(file, ONLY_IMAGES) : { type: 'file', ...file, mediaType, data };
}

/** True for a URL that contains its content. */
export function isDataUrl(content: string): boolean {
  return content.slice(0, 'data:'.length).toLowerCase() === 'data:';
}

function mayBeImage(mediaType: string): boolean {
  return mediaType.startsWith('image/') || UNNAMED_TYPES.includes(mediaType);
}
