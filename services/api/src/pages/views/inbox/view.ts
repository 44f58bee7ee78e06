import type { ApprovalTool } from '@parley/core/domain/approvals/approval';
import type { Risk } from '@parley/core/domain/approvals/risk';
import type { FormTarget } from '../../kit/fields.ts';

/**
 * Something that waits for the person. `path` is the page on which it is answered. `key` names the item on the page of the inbox:
 * calls that could be decided together have one, also while there is only one of them.
 */
export type ShownWaiting =
  | {
      readonly about: 'question';
      readonly key: string;
      /** Who asks, as people know them. */
      readonly agent?: string | undefined;
      readonly title?: string;
      readonly message: string;
      readonly risk?: Risk;
      readonly leftMs: number;
      readonly path: string;
    }
  | {
      readonly about: 'approval';
      readonly key: string;
      readonly agent: string;
      /** The tool and its server, by their titles. */
      readonly tool: string;
      readonly server: string;
      readonly risk?: Risk;
      /** How many equal calls there are; absent for a call of its own. */
      readonly count?: number;
      readonly leftMs: number;
      readonly path: string;
    };

/** A remembered approval, as its person sees it. */
export interface ShownGrant {
  readonly agent: string;
  readonly tool: string;
  readonly server: string;
  /** In ms; absent when it holds in one conversation. */
  readonly until?: number;
  readonly forget: FormTarget;
}

/** Equal calls, which are decided together. */
export interface GroupView {
  readonly page: 'group';
  readonly path: string;
  readonly agent: string;
  readonly tool: Pick<ApprovalTool, 'server' | 'name' | 'hints'> & { readonly title: string };
  /** The person who decides, by the name of the sign-in. */
  readonly person: string;
  readonly risk?: Risk;
  /** The arguments that all calls have in common. */
  readonly same: Readonly<Record<string, unknown>>;
  readonly calls: readonly {
    readonly id: string;
    /** In what the call differs from the others. */
    readonly arguments: Readonly<Record<string, unknown>>;
    /** JSON pointers of the values that are masked. */
    readonly masked: readonly string[];
  }[];
  /** There are more calls of the group, which the page does not show. */
  readonly hasMore?: true;
  /** The person has older records, which were not read. */
  readonly hasOlder?: true;
  readonly leftMs: number;
  readonly fault?: 'none-chosen';
  /** Approves the chosen calls. */
  readonly decide: FormTarget;
  /** What the same form posts to in order to deny them. */
  readonly denyPath: string;
}
