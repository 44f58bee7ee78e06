import { expect, it } from 'vitest';
import { csvRecord } from '../../../services/api/src/surfaces/admin/csv.ts';

it.each<[value: unknown, cell: string]>([
  ['plain', 'plain'],
  ['', ''],
  [undefined, ''],
  [-1, '-1'],
  [true, 'true'],
  ['a,b', '"a,b"'],
  ['say "no"', '"say ""no"""'],
  ['two\r\nlines', '"two\r\nlines"'],
  [' blank ', '" blank "'],
  ['größer 🙂', 'größer 🙂'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
  ['＝1', "'＝1"],
  ['=HYPERLINK("https://a.example","b")', '"\'=HYPERLINK(""https://a.example"",""b"")"'],
  [['a', '=b'], '"[""a"",""=b""]"'],
])('%j is the cell %j', (value, cell) => {
  expect(csvRecord([value])).toBe(`${cell}\r\n`);
  expect(csvRecord(['x', value, 1])).toBe(`x,${cell},1\r\n`);
});
