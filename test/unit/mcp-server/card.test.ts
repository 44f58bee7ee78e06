import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CARD_URI, metaWithCard } from '../../../services/api/src/surfaces/mcp/apps/card.ts';
import { CARD_FILE } from '../../../services/api/src/wiring/mcp.ts';

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

it('the service reads the card where the build writes it', () => {
  const root = new URL('../../../', import.meta.url);
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  const [, folder] = /--call-card (\S+)/.exec(scripts.build) ?? [];
  expect(CARD_FILE.href).toBe(new URL(`${folder}/call-card.html`, root).href);
});
