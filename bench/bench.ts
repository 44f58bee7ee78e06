import type { Measurement } from './measurement.ts';

/** The context of every part of the bench. */
export interface Bench {
  /** A Redis of its own, empty and without persistence. */
  readonly redisUrl: string;
  /** A count at the size of this run: `full` times the chosen share, and never below `least`. */
  scaled(full: number, least: number): number;
  /** Writes a line for people who watch. */
  progress(text: string): void;
}

/** Measures one thing and reports it; resolves when everything it started has ended. */
export type Part = (bench: Bench) => Promise<Measurement[]>;
