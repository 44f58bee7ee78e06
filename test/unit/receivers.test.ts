import { createReceivers, type LeaveReceiver } from '@parley/shared/engine/receivers';
import { describe, expect, it } from 'vitest';

const HUNG = { type: 'failed', fault: 'timeout' } as const;
const AWAY = { type: 'failed', fault: 'failed' } as const;
const TAKEN = { type: 'replied', status: 503 } as const;

describe('the receivers of webhooks', () => {
  /** Enters as often as there is a place, a hundred times at most. */
  function fill(receivers: ReturnType<typeof createReceivers>, url: string): LeaveReceiver[] {
    const places: LeaveReceiver[] = [];
    while (places.length < 100) {
      const leave = receivers.enter(url);
      if (leave === undefined) break;
      places.push(leave);
    }
    return places;
  }

  it('have all places until one lets a delivery time out, and then few, on whichever path', () => {
    const receivers = createReceivers();
    const places = fill(receivers, 'https://hangs.example/a');
    expect(places).toHaveLength(100);
    for (const leave of places) leave(HUNG);
    expect(fill(receivers, 'https://hangs.example/b?c')).toHaveLength(2);
    expect(fill(receivers, 'https://answers.example/')).toHaveLength(100);
  });

  it('have all places again once it answers, whatever it says; being away is no answer', () => {
    const receivers = createReceivers();
    receivers.enter('https://hangs.example/')?.(HUNG);
    receivers.enter('https://hangs.example/')?.(AWAY);
    expect(fill(receivers, 'https://hangs.example/')).toHaveLength(2);
    const other = createReceivers();
    other.enter('https://hangs.example/')?.(HUNG);
    other.enter('https://hangs.example/')?.(TAKEN);
    expect(fill(other, 'https://hangs.example/')).toHaveLength(100);
  });

  it('that are away at once are not limited, and neither is what is no URL', () => {
    const receivers = createReceivers();
    for (const url of ['https://away.example/', 'no URL']) {
      receivers.enter(url)?.(AWAY);
      expect(fill(receivers, url)).toHaveLength(100);
    }
  });
});
