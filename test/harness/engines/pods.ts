import type { Backend, BackendSettings } from '@parley/shared/ports/backend';
import type { DeadLetters } from '@parley/shared/ports/delivery/dead-letters';
import type { EventBus } from '@parley/shared/ports/elicitations/event-bus';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import type { OpenVaultPods } from '../vault/stores.ts';

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
  /** Opens the store of credentials, which is emptied for each test; absent where others use the server. */
  readonly openVault?: OpenVaultPods;
  /**
   * Servers of the program that another store is proven on whole, in another topology. A daily run proves there what depends
   * on the topology: each script in its slot, each way of publishing. A soak proves everything there.
   */
  readonly isTopology?: boolean;
  /** Whether its pods receive events over a connection that may be cut; false within one process. */
  readonly hasLine: boolean;
  /** Loses everything, as a store without persistence does; absent where that takes the process along. */
  readonly lose?: () => Promise<void>;
  /** All that is stored, a line for each key with its value; absent where it cannot be read from outside. */
  readonly dump?: () => Promise<string[]>;
  /** Scripts of the product that no server of the store has run; absent where there are no scripts. */
  readonly scriptsNotRun?: () => Promise<string[]>;
  /** Where its servers are; absent where there are none. */
  readonly location?: RedisLocation;
}
