import type { Owner, StreamRef } from '@parley/core/domain/ids';
import type { Caller } from '@parley/shared/domain/caller';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Claims } from '@parley/shared/ports/elicitations/claims';
import type { CallLimits } from '../../../http/limits/call-limits.ts';
import type { Turns } from '../../../turns/turns.ts';
import type { SlackDeliveryDeps } from '../delivery/deps.ts';
import type { SlackSettings } from '../settings.ts';
import type { SlackUser } from '../store/workspace.ts';
import type { Names } from './names.ts';

/** The dependencies of the app's listeners. */
export interface ListenerDeps extends SlackDeliveryDeps {
  readonly settings: SlackSettings;
  readonly engine: SlackDeliveryDeps['engine'] &
    Pick<Engine, 'read' | 'answer' | 'approvals' | 'openRecords'>;
  readonly turns: SlackDeliveryDeps['turns'] & Pick<Turns, 'begin' | 'admitToAgent' | 'stop'>;
  readonly limits: CallLimits;
  readonly names: Names;
  readonly claims: Pick<Claims, 'claim'>;
  /** Subscribes the Slack kind to a turn, and records the turn's place. Both last for at least `keptMs`. */
  readonly follow: (stream: StreamRef, place: ThreadOf, keptMs: number) => Promise<void>;
  /** How long a turn is followed, in ms: its maximum duration plus its retention. */
  readonly keptMs: number;
  /** Starts this pod's due deliveries at once. */
  readonly nudge: () => void;
  /** The address of the page that links this Slack user to a person. */
  readonly linkAddress: (user: SlackUser) => Promise<string>;
  readonly isDraining: () => boolean;
  readonly onFault: (error: unknown) => void;
}

type ThreadOf = Parameters<SlackDeliveryDeps['places']['putTurn']>[1];

/** A linked person as a caller. */
export function callerOf({ tenant, userId }: Owner): Caller & { readonly kind: 'user' } {
  return { kind: 'user', tenant, userId };
}
