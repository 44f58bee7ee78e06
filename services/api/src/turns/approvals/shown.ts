import { Approval } from '@parley/core/domain/approvals/approval';

/** Where cards send a person's decision by default. */
const RESPOND_URL = '/run/api/approval-responses';

/** An approval as chats show it: version 1 of the shape, without what the person wrote. */
export type ShownApproval = Omit<Approval, 'editedArguments'> & {
  readonly v: 1;
  readonly respondUrl: string;
};

// The shown members are listed, so that no other member of an item is ever sent.
const SHOWN = Object.keys(Approval.omit({ editedArguments: true }).shape);

/** The approval without what the person wrote, and with the path for a decision. */
export function shownApproval(approval: Approval): ShownApproval {
  const fields = Object.entries(approval).filter(([key]) => SHOWN.includes(key));
  return { v: 1, ...Object.fromEntries(fields), respondUrl: RESPOND_URL } as ShownApproval;
}
