import type { ModelFault } from '../../../stand-ins/scripted-model/faults.ts';
import type { GateVerdict } from '../chaos/gate.ts';
import type { Asked } from '../chat/client.ts';
import type { CallOutcome } from '../history/run-events.ts';
import type { BookingCall } from '../site/booking-tools.ts';
import { waitUntil } from '../wait-until.ts';
import type { RunCommand } from './commands.ts';
import type { Talk } from './person.ts';
import type { Saying } from './script.ts';
import type { RunHooks, RunSite } from './site.ts';

/** The actions of a label at the points of a run. */
export interface FaultHooks {
  readonly onCommand?: (pod: string, command: RunCommand) => GateVerdict;
  readonly onCall?: (call: BookingCall) => Promise<void>;
  readonly onSaying?: (saying: Saying) => ModelFault | undefined;
  readonly onQuestion?: (question: Asked) => Promise<void>;
}

/** A point of a run at which its owner is killed. */
export interface Label {
  readonly name: string;
  /** Whether the daily run kills at this point; a soak kills at all points. */
  readonly isDaily: boolean;
  /** What the booking comes to where the label is met as it is meant; absent where that depends on timing. */
  readonly booking?: CallOutcome | undefined;
  /** Number of owners of the run, dying owners and the unowned term included; 2 when absent. */
  readonly owners?: number;
  readonly set: (aim: Aim) => FaultHooks;
}

/** A label set for one conversation. */
export interface Aim {
  readonly site: RunSite;
  readonly talk: Talk;
  readonly fired: () => boolean;
  /** Kills a pod at the label, once, if the pod is alive. */
  readonly fire: (pod: string | undefined) => void;
  /** Cuts the connection that carries a command, and kills its pod. */
  readonly cut: (when: 'before' | 'after', pod: string) => GateVerdict;
  /** Resolves when the label has fired, or when another fault came first. */
  readonly settled: () => Promise<void>;
}

// Another label may have killed the pod in the meantime; then this label is tried with another conversation.
const PATIENCE_MS = 10_000;

export interface Aims {
  readonly hooks: RunHooks;
  /** Sets a label for a conversation. */
  set(site: RunSite, talk: Talk, label: Label): FaultHooks & Pick<Aim, 'fired'>;
}

/** Creates the registry of labels; its hooks are passed to the site. */
export function createAims(): Aims {
  const faultHooks = new Map<string, FaultHooks>();
  return {
    hooks: {
      onCommand: (name, pod, command) => faultHooks.get(name)?.onCommand?.(pod, command) ?? 'pass',
      onCall: async (call) => faultHooks.get(call.name)?.onCall?.(call),
      onSaying: (saying) => faultHooks.get(saying.name)?.onSaying?.(saying),
    },
    set(site, talk, label) {
      const aim = createAim(site, talk, label.name);
      const hooks = label.set(aim);
      faultHooks.set(talk.name, hooks);
      return { ...hooks, fired: aim.fired };
    },
  };
}

function createAim(site: RunSite, talk: Talk, label: string): Aim {
  let state: 'set' | 'cutting' | 'fired' = 'set';
  const fire = (pod: string | undefined) => {
    if (state === 'fired') return;
    state = pod !== undefined && site.end(pod, 'SIGKILL', label) ? 'fired' : 'set';
  };
  return {
    site,
    talk,
    fire,
    fired: () => state === 'fired',
    cut(when, pod) {
      if (state !== 'set') return 'pass';
      state = 'cutting';
      return { cut: when, done: () => fire(pod) };
    },
    settled: async () => {
      const what = `the label ${label} to fire`;
      await waitUntil(() => state === 'fired', { what, timeoutMs: PATIENCE_MS }).catch(() => undefined);
    },
  };
}
