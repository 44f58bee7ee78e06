import { expect, it } from 'vitest';
import { compileRule } from '../../../../services/api/src/agents/config/argument-rule.ts';

const numbers = (length: number) => Array.from({ length }, (_, at) => at);

it.each<[string, object, boolean]>([
  ['args.amount > 100', { amount: 101 }, true],
  ['args.amount > 100', { amount: 99 }, false],
  ["args.to.matches('@example\\\\.com$')", { to: 'ada@example.com' }, true],
  ["args.to.matches('@example\\\\.com$')", { to: 'ada@example.org' }, false],
  ["args.list.exists(x, x.matches('^b'))", { list: ['a', 'b'] }, true],
  ['args.items.map(i, i.price).exists(p, p > 100)', { items: [{ price: 5 }, { price: 7 }] }, false],
  ['args.a.all(x, args.b.exists(y, x == y))', { a: numbers(20), b: numbers(20) }, true],
  ['args.a.all(x, args.b.exists(y, x == y))', { a: numbers(21), b: numbers(20) }, false],
  // What is not there cannot be judged, so that a person decides.
  ['args.amount > 100', {}, true],
])('%s with %j is %s', (rule, args, expected) => {
  expect(compileRule(rule)(args as Record<string, unknown>)).toBe(expected);
});

// Each of these took seconds to years, and would be false.
it.each<[string, object]>([
  ["args.x.matches('(x+x+)+y')", { x: 'x'.repeat(200_000) }],
  ["args.x.matches('^(a|a?)+$')", { x: `${'a'.repeat(150_000)}!` }],
  ['args.x.matches(args.y)', { x: 'x', y: '(?=x)x' }],
  ['args.x.matches(args.y)', { x: 'x', y: 'x'.repeat(300) }],
  ["args.list.exists(x, x.matches('(?:[a-z]{1,50}){1,20}!'))", { list: numbers(500).map(() => 'abc') }],
  ['args.a.exists(x, args.a.exists(y, args.a.exists(z, x + y + z < 0)))', { a: numbers(200) }],
  ["args.t.split('').exists(x, args.t.split('').exists(y, x > y && y > x))", { t: 'a'.repeat(5_000) }],
  ['(args.a + args.a + args.a).exists(x, (args.a + args.a).exists(y, x + y < 0))', { a: numbers(100) }],
])('%s takes too many steps with such arguments, so that a person decides', (rule, args) => {
  expect(compileRule(rule)(args as Record<string, unknown>)).toBe(true);
});

it('a text of 40 characters that held the pod for half a minute is judged at once', () => {
  expect(compileRule("args.x.matches('(x+x+)+y')")({ x: 'x'.repeat(40) })).toBe(false);
});
