import { isParleyError } from '@parley/shared/domain/errors';
import type { Heartbeats } from '@parley/shared/ports/runs/heartbeats';

/** How often things are looked at, in ms. */
export interface Rhythm {
  readonly beatMs: number;
  /** A pod that was slow for a moment is not dead. */
  readonly aliveMs: number;
}

export const RHYTHM: Rhythm = { beatMs: 5_000, aliveMs: 20_000 };

/** This pod's signs of life, and what it hears of the others'. */
export interface Pulse {
  /** Beats now; throws `unavailable` when that is not heard. */
  beat(): Promise<void>;
  /**
   * True when that owner gave no sign of life for too long although it could have been heard: after an outage all
   * pods have fallen silent, and each gets the time to speak up again.
   */
  isDead(owner: string): Promise<boolean>;
  stop(): void;
}

/** Starts to beat for `owner`. `onBeat` runs after each beat that was heard. */
export function startPulse(
  heartbeats: Pick<Heartbeats, 'beat' | 'alive'>,
  owner: string,
  { beatMs, aliveMs }: Rhythm,
  onBeat: () => void,
): Pulse {
  let failing = false;
  let doubtUntil = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function beat(): Promise<void> {
    try {
      await heartbeats.beat(owner, aliveMs);
      if (failing) doubtUntil = performance.now() + 2 * beatMs;
      failing = false;
    } catch (error) {
      failing = true;
      throw error;
    }
  }

  /** Sooner while it is not heard: others may take this pod for dead. */
  async function run(): Promise<void> {
    const heard = await beat().then(
      () => true,
      (error: unknown) => !isParleyError(error, 'unavailable'),
    );
    if (stopped) return;
    timer = setTimeout(() => void run(), heard ? beatMs : beatMs / 5).unref();
    if (heard) onBeat();
  }

  void run();
  return {
    beat,
    async isDead(other) {
      if (failing || performance.now() < doubtUntil) return false;
      const alive = await heartbeats.alive(other);
      return !alive && !failing;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
