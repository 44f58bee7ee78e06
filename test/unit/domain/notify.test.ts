import { endOfQuietHours, firstNoticeAt, NotifyRules, nextNotice } from '@parley/core/domain/notify';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const AT = (time: string) => Date.parse(`2026-11-23T${time}Z`);

describe('notices of open questions', () => {
  const rules = NotifyRules.parse({
    channel: 'slack',
    afterSeconds: 60,
    remind: { afterSeconds: 600, atMost: 2 },
    escalate: { afterSeconds: 900, to: 'U9' },
  });
  const state = { openedAt: AT('10:00:00'), now: AT('10:00:00'), reminders: 0, isEscalated: false };

  it('are reminders, so many at most, and an escalation, in the order of their times', () => {
    expect(nextNotice(rules, state)).toEqual({ type: 'reminder', at: AT('10:11:00') });
    expect(nextNotice(rules, { ...state, reminders: 1 })).toEqual({
      type: 'escalation',
      at: AT('10:15:00'),
      to: 'U9',
    });
    expect(nextNotice(rules, { ...state, reminders: 1, isEscalated: true })).toEqual({
      type: 'reminder',
      at: AT('10:21:00'),
    });
    expect(nextNotice(rules, { ...state, reminders: 2, isEscalated: true })).toBeUndefined();
  });

  it('begin once the person has not seen it for so long, else later and by half of its time', () => {
    const first = (isSeen: boolean, more: object = {}, now = state.now, expiresAt = AT('14:00:00')) =>
      firstNoticeAt({ ...rules, ...more }, { openedAt: state.openedAt, expiresAt, now, isSeen });
    expect(first(false)).toBe(AT('10:01:00'));
    expect(first(false, {}, AT('12:00:00'))).toBe(AT('12:00:00'));
    expect(first(true)).toBe(AT('10:11:00'));
    expect(first(true, { remind: undefined })).toBe(AT('10:15:00'));
    const plain = { remind: undefined, escalate: undefined };
    expect(first(true, plain)).toBe(AT('10:10:00'));
    expect(first(true, plain, AT('10:20:00'))).toBe(AT('10:20:00'));
    expect(first(true, plain, state.now, AT('10:08:00'))).toBe(AT('10:04:00'));
    expect(first(true, {}, state.now, AT('10:08:00'))).toBe(AT('10:04:00'));
    expect(first(true, plain, state.now, AT('10:01:30'))).toBe(AT('10:01:00'));
    const quietHours = { from: '10:00', to: '10:30', timeZone: 'UTC' };
    expect(first(false, { quietHours })).toBe(AT('10:30:00'));
    expect(first(true, { quietHours, escalate: undefined })).toBe(AT('10:40:00'));
  });

  it('wait for the end of quiet hours, in their time zone and over midnight', () => {
    const quietHours = { from: '22:00', to: '07:30', timeZone: 'Europe/Berlin' };
    expect(endOfQuietHours({ quietHours }, AT('20:59:00'))).toBe(AT('20:59:00'));
    expect(endOfQuietHours({ quietHours }, AT('21:00:30'))).toBe(AT('06:30:00') + 24 * 3_600_000);
    expect(endOfQuietHours({ quietHours }, AT('03:00:00'))).toBe(AT('06:30:00'));
    expect(endOfQuietHours({ quietHours }, AT('06:30:00'))).toBe(AT('06:30:00'));
  });

  it('never come in quiet hours, nor earlier than asked', () => {
    const time = fc.integer({ min: 0, max: 1_439 }).map((minute) => {
      const two = (value: number) => String(value).padStart(2, '0');
      return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
    });
    fc.assert(
      fc.property(time, time, fc.integer({ min: 0, max: 2 ** 41 }), (from, to, at) => {
        const quietHours = { from, to, timeZone: 'Asia/Kolkata' };
        const end = endOfQuietHours({ quietHours }, at);
        expect(end).toBeGreaterThanOrEqual(at);
        expect(endOfQuietHours({ quietHours }, end)).toBe(end);
      }),
      { numRuns: 200 },
    );
  });
});
