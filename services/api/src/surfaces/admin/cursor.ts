import { ParleyError } from '@parley/core/domain/errors';
import type { ListPlace } from '@parley/shared/ports/tenant-lists';
import { sha256 } from '@parley/shared/records/digest';
import { z } from 'zod';

const encodedFor = (digest: string) =>
  z.tuple([z.literal(digest), z.int().positive(), z.string().max(4_096)]);

/**
 * Makes the cursors of one list: a place in it, and a digest of what is listed. A cursor of another tenant, list or filter is
 * therefore refused.
 */
export function cursorsOf(list: Readonly<Record<string, unknown>>) {
  const entries = Object.entries(list).filter(([, value]) => value !== undefined);
  const name = JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  const digest = sha256(name).slice(0, 16);
  return {
    format({ at, member }: ListPlace): string {
      return Buffer.from(JSON.stringify([digest, at, member])).toString('base64url');
    },
    /** Parses a cursor. Throws `invalid_request`. */
    parse(cursor: string): ListPlace {
      const place = decoded(cursor, digest);
      if (place === undefined) throw foreignCursor();
      return place;
    },
  };
}

function decoded(cursor: string, digest: string): ListPlace | undefined {
  try {
    const text = Buffer.from(cursor, 'base64url').toString('utf8');
    const [, at, member] = encodedFor(digest).parse(JSON.parse(text));
    return { at, member };
  } catch {
    return undefined;
  }
}

function foreignCursor(): ParleyError {
  return new ParleyError('invalid_request', 'The query is not well formed; see errors.', {
    issues: [{ path: 'cursor', message: 'must be the nextCursor of the page before, with the same filters' }],
  });
}
