import type { AdminApproval, AdminElicitation } from '../api/replies.ts';

/** A record of either family. */
export type ShownRecord =
  | {
      readonly family: 'elicitation';
      readonly id: string;
      readonly view: AdminElicitation;
      readonly hasEnded: boolean;
    }
  | {
      readonly family: 'approval';
      readonly id: string;
      readonly view: AdminApproval;
      readonly hasEnded: boolean;
    };
