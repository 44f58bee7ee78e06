import type { Followers } from './followers.ts';

/** What the bench asks a child process to do. */
export type Order =
  | { readonly do: 'open'; readonly variant: Variant; readonly count: number; readonly streams: number }
  | { readonly do: 'settle'; readonly ids: readonly string[]; readonly variant: Variant; readonly pace: Pace }
  | { readonly do: 'heap'; readonly count: number }
  /** Asks as many. They are due evenly within `overSeconds`, the first of them `dueInSeconds` from now. */
  | {
      readonly do: 'ask';
      readonly count: number;
      readonly dueInSeconds: number;
      readonly overSeconds: number;
    }
  /** Lets as many people follow their inboxes at this pod; replies with \`followed\` when all do. */
  | { readonly do: 'follow'; readonly url: string; readonly count: number }
  /** Says where they find the service once they have lost their streams. */
  | { readonly do: 'move'; readonly urls: readonly string[] }
  /** Asks how far they are. */
  | { readonly do: 'followed' };

/** What a child process replies. */
export type Reply =
  | { readonly type: 'ready' }
  | { readonly type: 'opened'; readonly ids: readonly string[] }
  | { readonly type: 'settled'; readonly startedAt: number; readonly cpuMicroseconds: number }
  | {
      readonly type: 'collected';
      readonly latencies: readonly number[];
      readonly lastAt: number;
      readonly cpuMicroseconds: number;
    }
  | { readonly type: 'heap'; readonly bytesEach: number }
  | ({ readonly type: 'followed' } & Pick<Followers, 'connected' | 'refusals' | 'lastAt'>);

/**
 * publish: PUBLISH to message and nothing else; raw: one settle script and a pod channel; validated: the same after a
 * read of the row and the product's check of the answer; engine: Parley, where the answering process has never seen the
 * question; shown: Parley, where it has shown it; straight: the commands of a commit in a script without rules; peer: the contender whose module the process was started with.
 */
export type Variant = 'publish' | 'raw' | 'validated' | 'engine' | 'shown' | 'straight' | 'peer';

/** One after the other, so many a second; or as fast as possible with so many under way. */
export type Pace = { readonly perSecond: number } | { readonly underWay: number };
