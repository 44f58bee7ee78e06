import { ProtocolError } from '@modelcontextprotocol/server';
import { RPC } from './json-rpc.ts';

const PAGE = 50;

/** A page of a list. Throws for an unknown cursor. */
export function pageOf<Item>(
  all: readonly Item[],
  cursor: string | undefined,
): { readonly items: Item[]; readonly nextCursor?: string } {
  const from = startOf(cursor, all.length);
  const hasMore = from + PAGE < all.length;
  return { items: all.slice(from, from + PAGE), ...(hasMore && { nextCursor: cursorOf(from + PAGE) }) };
}

function cursorOf(from: number): string {
  return Buffer.from(`from ${from}`).toString('base64url');
}

function startOf(cursor: string | undefined, count: number): number {
  if (cursor === undefined) return 0;
  const [, digits] = /^from (\d{1,6})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const from = Number(digits);
  if (digits === undefined || from > count) throw new ProtocolError(RPC.invalidParams, 'Invalid cursor');
  return from;
}
