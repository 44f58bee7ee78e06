import { webhookKind } from '@parley/shared/delivery/deliver-webhook';
import { createDispatch, type Dispatch } from '@parley/shared/delivery/dispatch';
import type { WebhookSettings } from '@parley/shared/domain/webhooks/rules';
import { createEngine, type Engine } from '@parley/shared/elicitations/engine';
import { silentObserver } from '@parley/shared/observe/observer';
import type { Backend } from '@parley/shared/ports/backend';
import type { Elicitations } from '@parley/shared/ports/elicitations/elicitations';
import type { EventBus } from '@parley/shared/ports/elicitations/event-bus';
import type { EngineDeps, EngineSettings } from '@parley/shared/records/deps';
import { resumeRunKind } from '@parley/shared/runs/resume';

// Polling is so slow that a test which passes was woken.
const SETTINGS: EngineSettings = {
  retentionMs: 60_000,
  messageCharactersMax: 10_000,
  schemaBytesMax: 32 * 1024,
  schemaPropertiesMax: 50,
  allowLoopbackHttp: false,
  connectBaseUrl: 'https://parley.example/auth/connect/',
  answerBaseUrl: 'https://parley.example/auth/answer/',
  graceMs: 2_000,
  recheckMs: 600_000,
  knownBytesMax: 32 * 1024 * 1024,
};

export interface EngineOptions extends Partial<Omit<EngineDeps, 'settings'>> {
  readonly settings?: Partial<EngineSettings> & WebhookSettings;
}

/** An engine on one pod. Nothing fires at deadlines unless `options` brings it. */
export function engineOn(backend: Backend, options: EngineOptions = {}): Engine {
  const { settings, ...deps } = options;
  return createEngine({
    elicitations: backend.elicitations,
    approvals: backend.approvals,
    records: backend.records,
    feed: backend.feed,
    wakes: backend.wakes,
    approvalWakes: backend.approvalWakes,
    inboxWakes: backend.inboxWakes,
    claims: backend.claims,
    ownerRecords: backend.ownerRecords,
    deadlineJobs: { add: async () => undefined },
    observer: silentObserver,
    deliveries: dispatchOn(backend),
    ...deps,
    settings: { ...SETTINGS, ...settings } satisfies EngineSettings & WebhookSettings,
  });
}

/** The dispatch of a backend: resumes detached runs, and sends no webhook. */
export function dispatchOn(backend: Backend): Dispatch {
  return createDispatch({
    outbox: backend.outbox,
    kinds: [resumeRunKind(backend), webhookKind(async () => 'done')],
    onFault: () => undefined,
  });
}

/** A bus that delivers nothing: every wake is lost. */
export function deafBus<T>(): EventBus<T> {
  return { publish: async () => undefined, subscribe: () => ({ unsubscribe: () => undefined }) };
}

/** A bus that loses the wakes of asks once `isLosing` says so, and delivers all others. */
export function busWithoutAsks(bus: EngineDeps['wakes'], isLosing: () => boolean): EngineDeps['wakes'] {
  return {
    publish: (...args) => bus.publish(...args),
    subscribe: (topic, listener) =>
      bus.subscribe(topic, (signal) => {
        const isAsk =
          signal.type === 'event' && 'status' in signal.event && signal.event.status === 'pending';
        if (!(isAsk && isLosing())) listener(signal);
      }),
  };
}

/** An engine that no wake reaches and that polls often. */
export function deafEngineOn(backend: Backend): Engine {
  return engineOn(backend, {
    wakes: deafBus(),
    approvalWakes: deafBus(),
    inboxWakes: deafBus(),
    settings: { recheckMs: 40 },
  });
}

/** Elicitations of which some rows cannot be read. */
export function withoutRows(elicitations: Elicitations, broken: ReadonlySet<string>): Elicitations {
  const fault = () => Promise.reject(new SyntaxError('no row'));
  return {
    ...elicitations,
    read: (id) => (broken.has(id) ? fault() : elicitations.read(id)),
    readEach: async (ids) => {
      const readings = await elicitations.readEach(ids);
      const reason = new SyntaxError('no row');
      return readings.map((reading, at) =>
        broken.has(ids[at] ?? '') ? { status: 'rejected', reason } : reading,
      );
    },
  };
}
