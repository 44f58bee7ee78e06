import type { IncomingMessage } from 'node:http';
import { isOurForm } from '../flows/browser.ts';
import { FORM_FIELDS } from '../pages/fields.ts';
import type { ConnectView } from '../pages/view.ts';
import type { Parts } from './parts.ts';
import { single, type Visit } from './visit.ts';

const FORM_BYTES_MAX = 16 * 1024;
// What is too large is still read this far: a browser that is cut off while it sends shows no page.
const READ_BYTES_MAX = 1024 * 1024;

/** The fields of a form that one of our own pages sent, or the page that says why it is not taken. */
export async function readForm(
  parts: Parts,
  visit: Visit,
  retry: string | undefined,
): Promise<{ readonly fields: URLSearchParams } | { readonly view: ConnectView }> {
  const refused: ConnectView = { page: 'refused', ...(retry !== undefined && { retry }) };
  const body = await readBytes(visit.req, FORM_BYTES_MAX);
  if (body === undefined || !isFromUs(visit.req, parts.publicUrl)) return { view: refused };
  const fields = new URLSearchParams(body.toString('utf8'));
  if (!isOurForm(visit.browser, single(fields, FORM_FIELDS.csrf))) return { view: refused };
  // Only now: what other sites send from a person's browser must not use up what that person has.
  const { attempts } = parts;
  const seconds = (await attempts.blocked(visit.address)) ?? (await attempts.posted(visit.address));
  return seconds === undefined ? { fields } : { view: { page: 'too-many', retryAfterSeconds: seconds } };
}

/** By what browsers themselves say of where a post comes from; one that says neither is none that we know. */
function isFromUs({ headers }: IncomingMessage, publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headers['content-type'] ?? '')) return false;
  if (site !== undefined && site !== 'same-origin') return false;
  return headers.origin === undefined ? site !== undefined : headers.origin === publicUrl;
}

/** A whole body; nothing when it has more than `bytesMax`. */
export async function readBytes(req: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= bytesMax) chunks.push(chunk);
    else if (size > READ_BYTES_MAX) break;
  }
  return size > bytesMax ? undefined : Buffer.concat(chunks);
}
