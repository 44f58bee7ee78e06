import { createLog } from '@parley/shared/observe/log';
import { expect, it } from 'vitest';
import { createPageLog } from '../../../services/api/src/wiring/pages/log.ts';

const BAD_STATE = {
  type: 'failed',
  code: 'bad_state',
  connectorId: 'anything',
  detail: 'the flow belongs to another browser, or to none',
} as const;

function setup() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog(
    { service: 'parley-api', level: 'info', pod: 'pod' },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  let now = 0;
  const onEvent = createPageLog({
    log,
    metrics: { identityMismatch: { add: () => undefined } },
    clock: () => now,
  });
  return { lines, onEvent, pass: (ms: number) => (now += ms) };
}

it('callbacks that belong to no flow cannot fill the log, and the next line counts those left out', () => {
  const { lines, onEvent, pass } = setup();
  for (let index = 0; index < 1_000; index += 1) onEvent(BAD_STATE, `request-${index}`);
  expect(lines).toHaveLength(10);
  expect(lines[0]).toMatchObject({ msg: 'connect page', code: 'bad_state', requestId: 'request-0' });
  pass(60_000);
  onEvent(BAD_STATE, 'later');
  expect(lines).toHaveLength(11);
  expect(lines[10]).toMatchObject({ requestId: 'later', suppressed: 990 });
});

it('events of a question are always in the log', () => {
  const { lines, onEvent } = setup();
  for (let index = 0; index < 100; index += 1) {
    onEvent(BAD_STATE);
    onEvent({ ...BAD_STATE, elicitationId: `el_${index}` });
  }
  expect(lines.filter(({ elicitationId }) => elicitationId !== undefined)).toHaveLength(100);
});
