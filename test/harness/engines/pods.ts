import type { Backend, BackendSettings } from '@parley/shared/ports/backend';
import type { DeadLetters } from '@parley/shared/ports/delivery/dead-letters';
import type { EventBus } from '@parley/shared/ports/elicitations/event-bus';

/** An event family that is not Parley's own: another kind of thing for which an agent may have to wait. */
export interface ToolApproval {
  readonly callId: string;
  readonly approved: boolean;
  readonly note?: string;
}

/** The two ends of a bus of tool approvals, one on each pod. */
export interface ApprovalBuses {
  readonly first: EventBus<ToolApproval>;
  readonly second: EventBus<ToolApproval>;
  /** Cuts the connection over which `second` receives. Throws where there is none. */
  cut(): void;
  close(): Promise<void>;
}

/** One list of dead letters, as two pods see it. */
export interface DeadLetterLists {
  readonly first: DeadLetters;
  readonly second: DeadLetters;
  close(): Promise<void>;
}

/** Two pods on one store. */
export interface Pods {
  readonly backend: Backend;
  /** The other pod; the same one for a backend that lives in one process. */
  readonly second: Backend;
  readonly settings: BackendSettings;
  approvals(): Promise<ApprovalBuses>;
  /** Dead letters that are kept for so long, in ms. */
  deadLetters(keepMs: number): Promise<DeadLetterLists>;
  close(): Promise<void>;
}

export type OpenPods = (settings: BackendSettings) => Promise<Pods>;

/** A store as a test file sees it. */
export interface Store {
  readonly open: OpenPods;
  /**
   * Servers of the program that another store is proven on whole, in another topology. Cases about the passing of time
   * alone are left to that store and to a soak: each server lets keys expire by itself, however requests reach it.
   */
  readonly isTopology?: boolean;
  /** Whether its pods receive events over a connection that may be cut; false within one process. */
  readonly hasLine: boolean;
  /** Loses everything, as a store without persistence does; absent where that takes the process along. */
  readonly lose?: () => Promise<void>;
  /** All that is stored, a line for each key with its value; absent where it cannot be read from outside. */
  readonly dump?: () => Promise<string[]>;
}
