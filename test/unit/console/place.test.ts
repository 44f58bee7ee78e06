import { describe, expect, it } from 'vitest';
import { hrefOf, type PageName, placeAt, sectionOf } from '../../../clients/console/src/place.ts';

const at = (href: string) => {
  const found = placeAt(new URL(href, 'https://parley.example'));
  return found && [found.page, found.id, found.query.toString()];
};

describe('places of the console', () => {
  it.each([
    ['/console', ['overview', '', '']],
    ['/console/', ['overview', '', '']],
    ['/console/elicitations?state=ended&userId=a%40b', ['elicitations', '', 'state=ended&userId=a%40b']],
    ['/console/elicitations/el_1', ['elicitation', 'el_1', '']],
    ['/console/approvals/ap_1', ['approval', 'ap_1', '']],
    ['/console/turns/a%2Fb?userId=alice', ['turn', 'a/b', 'userId=alice']],
    ['/console/people/alice%40example.com', ['person', 'alice@example.com', '']],
    ['/console/conversations/trip%207?userId=x', ['conversation', 'trip 7', 'userId=x']],
    ['/console/turns/a/b', undefined],
    ['/console/turns/%', undefined],
    ['/console/other', undefined],
    ['/consoles', undefined],
    ['/', undefined],
  ])('%s', (href, place) => {
    expect(at(href)).toEqual(place);
  });

  it.each(['plain', 'a/b', 'a b?c#d', 'ü$&', '%2F'])('the address of the id %s leads to it', (id) => {
    expect(at(hrefOf('turn', { id, query: { userId: id, key: undefined, tag: '' } }))).toEqual([
      'turn',
      id,
      `${new URLSearchParams({ userId: id })}`,
    ]);
  });

  it.each([
    ['elicitation', 'elicitations'],
    ['conversation', 'turns'],
    ['person', 'people'],
    ['turns', 'turns'],
  ] as [PageName, PageName][])('%s belongs to %s', (page, section) => {
    expect(sectionOf(page)).toBe(section);
  });
});
