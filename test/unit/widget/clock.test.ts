import { describe, expect, it } from 'vitest';
import { remainingMs } from '../../../clients/widget/src/card/countdown.ts';
import { createServerClock } from '../../../clients/widget/src/clock.ts';
import type { Elicitation } from '../../../clients/widget/src/elicitation.ts';

const HOUR = 3_600_000;
const SERVER = Date.parse('2026-03-01T12:00:00.000Z');
const iso = (ms: number) => new Date(ms).toISOString();
const askedUntil = (expiresAt: string): Elicitation => ({
  elicitationId: 'q',
  mode: 'form',
  message: 'Which?',
  status: 'pending',
  expiresAt,
});

/** A browser's clock that is off, and the true time. */
function worldOff(byMs: number) {
  let now = SERVER;
  const clock = createServerClock(() => now + byMs);
  return { clock, true: () => now, pass: (ms: number) => (now += ms) };
}

describe('the clock of the server', () => {
  it.each([-2 * HOUR, 0, 2 * HOUR])('is known with the own clock %i ms off', (offMs) => {
    const world = worldOff(offMs);
    world.clock.note(iso(SERVER), 0);
    world.pass(90_000);
    expect(world.clock.now()).toBe(SERVER + 90_000);
    expect(remainingMs(askedUntil(iso(SERVER + 100_000)), world.clock)).toBe(10_000);
    expect(remainingMs(askedUntil(iso(SERVER + 80_000)), world.clock)).toBe(0);
  });

  it('takes half of the round trip for the way back', () => {
    const { clock } = worldOff(0);
    clock.note(iso(SERVER - 200), 400);
    expect(clock.now()).toBe(SERVER);
  });

  it('is not set back by old news', () => {
    const world = worldOff(2 * HOUR);
    world.clock.note(iso(SERVER), 0);
    world.clock.note(iso(SERVER - HOUR));
    expect(world.clock.now()).toBe(SERVER);
  });

  it('is at least where news without a round trip say it is', () => {
    const world = worldOff(-2 * HOUR);
    world.clock.note(iso(SERVER - HOUR));
    expect(world.clock.now()).toBe(SERVER - HOUR);
    world.clock.note(iso(SERVER));
    expect(world.clock.now()).toBe(SERVER);
  });

  it('follows a reply after the own clock was put right', () => {
    let wall = SERVER - 2 * HOUR;
    const clock = createServerClock(() => wall);
    clock.note(iso(SERVER), 0);
    wall = SERVER;
    clock.note(iso(SERVER), 0);
    expect(clock.now()).toBe(SERVER);
  });

  it('is the own clock until anything is known, and ignores what is no time', () => {
    const { clock } = worldOff(5);
    clock.note('yesterday');
    clock.note(undefined, 3);
    expect(clock.now()).toBe(SERVER + 5);
    expect(remainingMs(askedUntil('soon'), clock)).toBeUndefined();
    expect(remainingMs({ ...askedUntil(iso(SERVER)), status: 'accepted' }, clock)).toBeUndefined();
  });
});
