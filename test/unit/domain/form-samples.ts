/** Values that fit each format, and texts that nearly do. */
export const FORMAT_SAMPLES = {
  email: {
    fits: [
      ...['ada@example.com', 'a@b.co', 'o!k@x.com', 'first.last+tag@sub.example.org', 'x_y-z@a-b.example'],
      ...['ada@example.xn--p1ai', `${'l'.repeat(64)}@example.com`],
    ],
    fails: [
      ...['', 'ada', 'ada@', '@example.com', 'ada@example', 'ada@@example.com', 'a@b@example.com'],
      ...['.ada@example.com', 'ada.@example.com', 'a..da@example.com', 'ada@-example.com'],
      ...['ada@example-.com', 'ada@example..com', 'ada@example.com.', 'ada@example.c', 'ada@127.0.0.1'],
      ...['ada lovelace@example.com', 'ada@example.com\n', 'Ada <ada@example.com>'],
      ...[`${'l'.repeat(65)}@example.com`, `a@${'l'.repeat(64)}.com`, `a@${'label.'.repeat(50)}com`],
    ],
  },
  uri: {
    fits: [
      'https://example.com/',
      'http://localhost:3000/a?b=c#d',
      'mailto:ada@example.com',
      'urn:isbn:0451450523',
    ],
    fails: [
      ...['', 'example.com', '/path', '//example.com/', 'https://', 'http://exa mple.com/'],
      ...[' https://example.com/', 'https://example.com/\n', 'javascript:alert(1)', 'JavaScript:alert(1)'],
      ...['java\tscript:alert(1)', '\u0001javascript:alert(1)', 'data:text/html,<script>alert(1)</script>'],
      'vbscript:msgbox(1)',
    ],
  },
  date: {
    fits: ['2026-03-01', '2024-02-29', '2000-02-29', '1999-12-31'],
    fails: [
      ...['', '2026-02-30', '2025-02-29', '1900-02-29', '2026-13-01', '2026-00-10', '2026-04-31'],
      ...['2026-01-00', '2026-1-1', '26-01-01', '2026-03-01T00:00:00Z', '2026-03-01\n', '01/03/2026'],
    ],
  },
  'date-time': {
    fits: [
      '2026-03-01T09:30:00Z',
      '2026-03-01T09:30:00.123456+05:30',
      '2024-02-29t23:59:59z',
      '2026-03-01T00:00:00-00:00',
    ],
    fails: [
      ...['', '2026-03-01', '2026-03-01T09:30:00', '2026-03-01T09:30Z', '2026-03-01 09:30:00Z'],
      ...['2026-02-30T09:30:00Z', '2026-03-01T24:00:00Z', '2026-03-01T09:60:00Z', '2026-03-01T09:30:60Z'],
      ...['2026-03-01T09:30:00.Z', '2026-03-01T09:30:00+0530', '2026-03-01T09:30:00+24:00'],
      '2026-03-01T09:30:00Z\n',
    ],
  },
} as const;
