import type { Owner, StreamRef } from '@parley/core/domain/ids';
import type { Webhooks } from '@parley/shared/delivery/webhooks';
import type { Caller } from '@parley/shared/domain/caller';
import { hasScope } from '@parley/shared/domain/service-key';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Backend, ChatQuotas } from '@parley/shared/ports/backend';
import type { OnAct } from '../../http/proof/acts.ts';
import type { TakePage } from './exports.ts';
import type { Watchers } from './live/watchers.ts';
import type { AccountOfPerson } from './people/account.ts';

/** A channel such as Slack, for operators. */
export interface OperatedChannel {
  /** The name of the channel and of its delivery kind. */
  readonly name: string;
  /** True if the person can be notified there. */
  isLinked(owner: Owner): Promise<boolean>;
}

/** The dependencies of the admin API. */
export interface AdminDeps
  extends Pick<
    Backend,
    | 'tenantLists'
    | 'tenantChanges'
    | 'records'
    | 'runs'
    | 'conversations'
    | 'runQueue'
    | 'heartbeats'
    | 'outbox'
    | 'deadLetters'
    | 'installation'
    | 'health'
  > {
  readonly engine: Engine;
  /** How long ended records are listed, in ms. */
  readonly retentionMs: number;
  readonly webhooks: Pick<Webhooks, 'redrive'>;
  readonly watchers: Watchers;
  /** The names of a person's open event streams. */
  readonly streamsOf: (owner: Owner) => Promise<readonly string[]>;
  /** The services that a person can connect; empty if there are no personal tools. */
  readonly accountsOf: (owner: Owner) => Promise<readonly AccountOfPerson[]>;
  readonly chatQuotas: ChatQuotas;
  readonly takePage: TakePage;
  readonly channel?: OperatedChannel | undefined;
  /** The host to which updates of an A2A task go from one of its slots; absent if no process of this environment sends them. */
  readonly pushHostOf?: ((task: StreamRef, slot: number) => Promise<string | undefined>) | undefined;
  /** True if the whole configuration belongs to one tenant. */
  readonly hasOneTenant: boolean;
  readonly onAct: OnAct;
}

/** True if a caller may read what people and models wrote. */
export function mayReadContent(caller: Caller): boolean {
  return caller.kind === 'service' && hasScope(caller.scopes ?? [], ['read_content']);
}
