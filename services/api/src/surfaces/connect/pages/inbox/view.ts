import type { FormTarget } from '../fields.ts';

/** Something that waits for the person. `path` is the page on which it is answered. */
export type ShownWaiting =
  | {
      readonly about: 'question';
      /** Who asks, as people know them. */
      readonly agent?: string;
      readonly title?: string;
      readonly message: string;
      readonly leftMs: number;
      readonly path: string;
    }
  | {
      readonly about: 'approval';
      readonly agent: string;
      /** The tool and its server, by their titles. */
      readonly tool: string;
      readonly server: string;
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
