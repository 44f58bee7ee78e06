/** Slack's mrkdwn as HTML, as far as Parley writes it: bold, italics, code, mentions, dates, links and some emoji. */

const EMOJI: Readonly<Record<string, string>> = { warning: '⚠️', hourglass_flowing_sand: '⏳' };
const PEOPLE: Readonly<Record<string, string>> = { U1: 'ada', U2: 'grace' };

/** A text as HTML that shows each of its characters. */
export function htmlOf(text: string): string {
  return text.replace(/[&<>"]/gu, (character) => `&#${character.codePointAt(0)};`);
}

export function mrkdwnHtml(text: string): string {
  const pieces = text.split(/(`[^`\n]+`|<[^<>]+>)/u);
  return pieces
    .map((piece) => {
      if (piece.startsWith('`') && piece.length > 1) return `<code>${unescaped(piece.slice(1, -1))}</code>`;
      if (piece.startsWith('<')) return objectHtml(piece.slice(1, -1));
      return unescaped(piece).replace(/:([a-z_]+):/gu, (whole, name: string) => EMOJI[name] ?? whole);
    })
    .join('')
    .replace(/(^|[^\p{L}\p{N}*])\*(?=\S)([^*\n]+?)\*(?![\p{L}\p{N}*])/gu, '$1<b>$2</b>')
    .replace(/(^|[^\p{L}\p{N}_])_(?=\S)([^_\n]+?)_(?![\p{L}\p{N}_])/gu, '$1<i>$2</i>');
}

/** A mention, a date or a link. */
function objectHtml(inner: string): string {
  const [, user] = /^@(\w+)$/u.exec(inner) ?? [];
  if (user !== undefined) return `<span class="mention">@${htmlOf(PEOPLE[user] ?? user)}</span>`;
  const [, seconds] = /^!date\^(\d+)\^/u.exec(inner) ?? [];
  if (seconds !== undefined) return htmlOf(dateOf(Number(seconds)));
  const [url = '', label = url] = inner.split('|');
  return `<a href="${unescaped(url)}">${unescaped(label)}</a>`;
}

function dateOf(seconds: number): string {
  return new Intl.DateTimeFormat('en-US', {
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZone: 'UTC',
  }).format(seconds * 1_000);
}

/** Slack's three escapes are characters; everything else is text. */
function unescaped(text: string): string {
  return htmlOf(text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'));
}
