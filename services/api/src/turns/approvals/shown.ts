import { Approval } from '@parley/core/domain/approvals/approval';

/** Where a person's decision goes, for cards that know no other place. */
const RESPOND_URL = '/run/api/approval-responses';

/** An approval as chats show it: version 1 of the shape, and never what the person wrote. */
export type ShownApproval = Omit<Approval, 'editedArguments'> & {
  readonly v: 1;
  readonly respondUrl: string;
};

// What to show is named, so that nothing else an item may carry ever leaves.
const SHOWN = Object.keys(Approval.omit({ editedArguments: true }).shape);

/** The approval without what the person wrote, and where to decide on it. */
export function shownApproval(approval: Approval): ShownApproval {
  const fields = Object.entries(approval).filter(([key]) => SHOWN.includes(key));
  return { v: 1, ...Object.fromEntries(fields), respondUrl: RESPOND_URL } as ShownApproval;
}
