import type { ApprovalTool } from '@parley/core/domain/approvals/approval';
import type { Risk } from '@parley/core/domain/approvals/risk';
import type { FormTarget } from '../../kit/fields.ts';

/**
 * An item that waits for the person. `path` is the page on which it is answered. `key` identifies the item on the inbox page.
 * Calls that can be decided together share a key, even while there is only one.
 */
export type ShownWaiting =
  | {
      readonly about: 'question';
      readonly key: string;
      /** The asking agent, by its title. */
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
      /** The number of equal calls; absent for a single call. */
      readonly count?: number;
      readonly leftMs: number;
      readonly path: string;
    };

/** A remembered approval as its person sees it. */
export interface ShownGrant {
  readonly agent: string;
  readonly tool: string;
  readonly server: string;
  /** When it ends, in ms; absent if it applies to one conversation. */
  readonly until?: number;
  readonly forget: FormTarget;
}

/** Equal calls that are decided together. */
export interface GroupView {
  readonly page: 'group';
  readonly path: string;
  readonly agent: string;
  readonly tool: Pick<ApprovalTool, 'server' | 'name' | 'hints'> & { readonly title: string };
  /** The name of the person who decides, from the sign-in. */
  readonly person: string;
  readonly risk?: Risk;
  /** The arguments that all calls share. */
  readonly same: Readonly<Record<string, unknown>>;
  readonly calls: readonly {
    readonly id: string;
    /** The arguments in which the call differs from the others. */
    readonly arguments: Readonly<Record<string, unknown>>;
    /** JSON pointers of the values that are masked. */
    readonly masked: readonly string[];
  }[];
  /** Present if the group has more calls than the page shows. */
  readonly hasMore?: true;
  /** Present if the person has older records, which were not read. */
  readonly hasOlder?: true;
  readonly leftMs: number;
  readonly fault?: 'none-chosen';
  /** Approves the chosen calls. */
  readonly decide: FormTarget;
  /** The path to which the same form posts in order to deny the calls. */
  readonly denyPath: string;
}
