import type { Status } from '@parley/core/domain/elicitations/status';
import type { ErrorCode } from '@parley/core/domain/errors';

/** The kinds of elicitation that the table distinguishes. */
export const KINDS = [
  'form',
  'form on its page',
  'url, client completion',
  'url, server completion',
] as const;
export type Kind = (typeof KINDS)[number];

/** Columns. `open` accepts a form without content. `other` accepts with another valid answer, `wrong` with one that is never allowed; `laden` declines with content. */
export const COLUMNS = [
  'open',
  'accept',
  'other',
  'wrong',
  'laden',
  'decline',
  'cancel',
  'complete',
  'expire',
  'withdraw',
] as const;
export type Column = (typeof COLUMNS)[number];

// The table of the design, written out by hand once for each kind, so that code and table can disagree.
// A status: the row moves there. `same`: 200 and nothing moves.
const ROWS: Readonly<Record<Kind, string>> = {
  form: `
    from      | accept   | other    | wrong | laden | decline  | cancel    | complete | expire  | withdraw
    pending   | accepted | accepted | 422   | 400   | declined | cancelled | 400      | same    | withdrawn
    accepted  | same     | 409      | 409   | 400   | 409      | 409       | 400      | same    | 409
    declined  | 409      | 409      | 409   | 400   | same     | 409       | 409      | same    | 409
    cancelled | 409      | 409      | 409   | 400   | 409      | same      | 409      | same    | 409
    expired   | 410      | 410      | 410   | 400   | 410      | 410       | 410      | same    | 410
    withdrawn | 409      | 409      | 409   | 400   | 409      | 409       | 409      | same    | same
    overdue   | 410      | 410      | 410   | 400   | 410      | 410       | 410      | expired | 410`,
  'form on its page': `
    from           | open   | accept   | other    | wrong | laden | decline  | cancel    | complete | expire  | withdraw
    pending        | opened | accepted | accepted | 422   | 400   | declined | cancelled | 400      | same    | withdrawn
    opened         | same   | accepted | accepted | 422   | 400   | declined | cancelled | 400      | same    | withdrawn
    accepted       | same   | same     | 409      | 409   | 400   | 409      | 409       | 400      | same    | 409
    declined       | 409    | 409      | 409      | 409   | 400   | same     | 409       | 409      | same    | 409
    cancelled      | 409    | 409      | 409      | 409   | 400   | 409      | same      | 409      | same    | 409
    expired        | 410    | 410      | 410      | 410   | 400   | 410      | 410       | 410      | same    | 410
    withdrawn      | 409    | 409      | 409      | 409   | 400   | 409      | 409       | 409      | same    | same
    overdue        | 410    | 410      | 410      | 410   | 400   | 410      | 410       | 410      | expired | 410
    opened overdue | 410    | 410      | 410      | 410   | 400   | 410      | 410       | 410      | expired | 410`,
  'url, client completion': `
    from      | accept   | wrong | laden | decline  | cancel    | complete | expire  | withdraw
    pending   | accepted | 400   | 400   | declined | cancelled | 400      | same    | withdrawn
    accepted  | same     | 400   | 400   | 409      | 409       | 400      | same    | 409
    declined  | 409      | 400   | 400   | same     | 409       | 409      | same    | 409
    cancelled | 409      | 400   | 400   | 409      | same      | 409      | same    | 409
    expired   | 410      | 400   | 400   | 410      | 410       | 410      | same    | 410
    withdrawn | 409      | 400   | 400   | 409      | 409       | 409      | same    | same
    overdue   | 410      | 400   | 400   | 410      | 410       | 410      | expired | 410`,
  'url, server completion': `
    from           | accept | wrong | laden | decline  | cancel    | complete | expire  | withdraw
    pending        | opened | 400   | 400   | declined | cancelled | accepted | same    | withdrawn
    opened         | same   | 400   | 400   | declined | cancelled | accepted | same    | withdrawn
    accepted       | same   | 400   | 400   | 409      | 409       | same     | same    | 409
    declined       | 409    | 400   | 400   | same     | 409       | 409      | same    | 409
    cancelled      | 409    | 400   | 400   | 409      | same      | 409      | same    | 409
    expired        | 410    | 400   | 400   | 410      | 410       | 410      | same    | 410
    withdrawn      | 409    | 400   | 400   | 409      | 409       | 409      | same    | same
    overdue        | 410    | 400   | 400   | 410      | 410       | 410      | expired | 410
    opened overdue | 410    | 400   | 400   | 410      | 410       | 410      | expired | 410`,
};

const CODES: Readonly<Record<string, ErrorCode>> = {
  400: 'invalid_request',
  409: 'already_settled',
  410: 'expired',
  422: 'invalid_answer',
};

/** Where a row stands before the command; `overdue` rows are still open although their deadline has passed. */
export type From = Status | 'overdue' | 'opened overdue';

export interface Cell {
  readonly kind: Kind;
  readonly from: From;
  readonly command: Column;
  /** `moves` to a status, `same` when nothing changes without a refusal, or the code of the refusal. */
  readonly outcome: { readonly moves: Status } | { readonly refused: ErrorCode } | 'same';
}

/** Every cell of the table, for every kind. */
export const CELLS: readonly Cell[] = KINDS.flatMap((kind) => {
  const [head = [], ...body] = ROWS[kind]
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((word) => word.trim()));
  return body.flatMap(([from, ...words]) =>
    words.map((word, at): Cell => {
      const refused = CODES[word];
      return {
        kind,
        from: from as From,
        command: head[at + 1] as Column,
        outcome: word === 'same' ? 'same' : refused === undefined ? { moves: word as Status } : { refused },
      };
    }),
  );
});
