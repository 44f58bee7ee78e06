import { expect, it } from 'vitest';
import { pageOf } from '../../harness/slack/draw/page.ts';
import { SHEETS } from '../../harness/slack/draw/states.ts';

it('draws every message and modal that Parley sends, none of which Slack would refuse', () => {
  for (const [name, pictures] of Object.entries(SHEETS)) {
    const page = pageOf(pictures);
    for (const { title } of pictures) expect(page).toContain(title);
    // Mentions and dates are drawn as such, and nothing is escaped twice.
    expect(page, name).not.toMatch(/&#60;[@!]|&#38;(lt|gt|amp);|undefined/);
  }
});
