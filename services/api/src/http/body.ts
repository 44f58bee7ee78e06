/** Reads request bodies within limits of size and budget. Checking their content is in `check.ts`. */

import type { IncomingMessage } from 'node:http';
import { ParleyError } from '@parley/core/domain/errors';
import { check } from './check.ts';
import { parseJson } from './json.ts';
import type { BodyReader } from './route.ts';

// A body over its limit is read this far before it is refused, because browsers and vendors read no reply while they send.
const READ_BYTES_MAX = 1024 * 1024;
// A body of unknown length is counted in parts of this size. Smaller parts would be free of charge.
const COUNTED_BYTES = 16 * 1024;

/** Counts bytes of a body that are about to be read. Throws `rate_limited`. */
export type AdmitBytes = (bytes: number) => Promise<void>;

/** The maximum sizes of JSON bodies. */
export interface JsonLimits {
  readonly bodyBytesMax: number;
  /** The maximum size of a body that contains messages. */
  readonly messagesBytesMax: number;
}

/** The limit for the JSON body of a route. */
function jsonBytesMaxOf(
  { bodyBytesMax, messagesBytesMax }: JsonLimits,
  { bytesMax = bodyBytesMax }: { readonly bytesMax?: number | 'messages' },
): number {
  return bytesMax === 'messages' ? messagesBytesMax : bytesMax;
}

/**
 * Reads a body as its route declares, chunked or not. `admit` counts JSON with a declared length before it is read, and other
 * bodies while they are read. Throws `too_large`, `rate_limited` and `invalid_request`.
 */
export async function readBody(
  req: IncomingMessage,
  reader: BodyReader<unknown> | undefined,
  limits: JsonLimits,
  admit: AdmitBytes = async () => undefined,
): Promise<unknown> {
  switch (reader?.as) {
    case undefined:
      return undefined;
    case 'json': {
      const body = await readJson(req, jsonBytesMaxOf(limits, reader), admit);
      return check(reader.schema, body === undefined && reader.optional ? {} : body, 'body');
    }
    case 'form': {
      const bytes = await readBytes(req, reader.bytesMax);
      const isForm = /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(req.headers['content-type'] ?? '');
      return bytes !== undefined && isForm ? new URLSearchParams(bytes.toString('utf8')) : undefined;
    }
    case 'raw': {
      const bytes = await readBytes(req, reader.bytesMax);
      if (bytes === undefined) throw tooLarge(reader.bytesMax);
      return bytes;
    }
  }
}

/** A JSON body of at most `bytesMax` bytes; undefined if the request has no body. */
async function readJson(req: IncomingMessage, bytesMax: number, admit: AdmitBytes): Promise<unknown> {
  const isChunked = req.headers['transfer-encoding'] !== undefined;
  const declared = isChunked ? 0 : Number(req.headers['content-length'] ?? 0);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  await admit(declared);
  const chunks: Buffer[] = [];
  let size = 0;
  let counted = declared;
  // After a refusal, sendProblem reads the rest.
  for await (const chunk of chunksOf(req)) {
    size += chunk.length;
    if (size > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
    if (size - counted <= COUNTED_BYTES) continue;
    await admit(size - counted);
    counted = size;
  }
  if (size === 0) return undefined;
  requireJson(req);
  return parseJson(
    decodeUtf8(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
  );
}

/** All bytes of a body; undefined if it has more than `bytesMax` bytes. */
async function readBytes(req: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunksOf(req)) {
    size += chunk.length;
    if (size <= bytesMax) chunks.push(chunk);
    else if (size > READ_BYTES_MAX) break;
  }
  return size > bytesMax ? undefined : Buffer.concat(chunks);
}

function chunksOf(req: IncomingMessage): AsyncIterable<Buffer> {
  return req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
}

function requireJson(req: IncomingMessage): void {
  const type = req.headers['content-type'] ?? '';
  if (/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) return;
  throw new ParleyError('invalid_request', 'Send the body as JSON with content-type application/json.');
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new ParleyError('invalid_request', 'The body is not valid UTF-8.');
  }
}

function tooLarge(bytesMax: number): ParleyError {
  return new ParleyError('too_large', `The body is larger than ${bytesMax} bytes.`);
}
