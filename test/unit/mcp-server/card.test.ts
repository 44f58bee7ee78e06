import { createMemoryBackend } from '@parley/shared/memory/backend';
import { expect, it } from 'vitest';
import { latestProgress } from '../../../services/api/src/surfaces/mcp/apps/progress.ts';
import { CARD_URI, metaWithCard } from '../../../services/api/src/surfaces/mcp/card.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { newOwner } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { textWrite, turnOf } from '../../harness/engines/turn-writes.ts';

const OWN = 'ui://shop~order.html';
const CARD = { ui: { resourceUri: CARD_URI } };

it.each([
  ['nothing', undefined, CARD],
  ['something else', { 'acme/kind': 1 }, { 'acme/kind': 1, ...CARD }],
  [
    'a visibility for all',
    { ui: { visibility: ['model', 'app'] } },
    { ui: { ...CARD.ui, visibility: ['model', 'app'] } },
  ],
  ['a page of its own', { ui: { resourceUri: OWN } }, undefined],
  ['a page of its own, in the older way', { 'ui/resourceUri': OWN }, undefined],
  ['buttons of pages alone', { ui: { visibility: ['app'] } }, undefined],
  ['a form that cannot be read', { ui: 7 }, CARD],
])('a tool whose server declares %s has the card unless it has a page', (_what, meta, expected) => {
  expect(metaWithCard(meta)).toEqual(expected ?? meta);
});

it.each([
  // Further back, a search costs more than it says.
  [0, true],
  [30, true],
  [249, true],
  [250, false],
])('the progress of a call is found behind %i other events: %s', async (others, isFound) => {
  const backend = createMemoryBackend(ROOMY);
  const run = turnOf(newOwner());
  await backend.runs.begin(run);
  const progress = { type: 'tool-progress', toolCallId: 'call', progress: 1 } as const;
  await backend.runs.write(run, { term: 1, firstSeq: 2, events: [progress] });
  await backend.runs.write(run, textWrite(3, 2 + others));
  const found = await latestProgress(engineOn(backend).newestEvents(run));
  expect(found).toEqual(isFound ? { progress: 1 } : undefined);
});
