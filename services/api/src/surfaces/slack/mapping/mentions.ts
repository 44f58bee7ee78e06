/** A person, group or channel that a text names only by an id. */
export interface Mention {
  readonly kind: 'person' | 'channel' | 'group';
  readonly id: string;
}

/** A Slack text in parts. Its mentions still need names. */
export type MentionedText = readonly (string | Mention)[];

const SIGNS = { person: '@', channel: '#', group: '@' } as const;

/**
 * Parses Slack's markup. Typed `&`, `<` and `>` are escaped in it, so each pair of brackets is a mention, a link, a date or a
 * command. Mentions of the app itself are removed.
 */
export function mentionedText(text: string, appUser: string | undefined): MentionedText {
  return text.split(/<([^<>]*)>/u).map((part, at) => {
    if (at % 2 === 0) return unescaped(part);
    const [head = '', label = ''] = cutAt(part, '|');
    return objectText(head, unescaped(label), appUser);
  });
}

/** The readable text, with ids where names are missing. */
export function shownText(text: MentionedText, nameOf: (mention: Mention) => string | undefined): string {
  const shown = text.map((part) =>
    typeof part === 'string' ? part : SIGNS[part.kind] + (nameOf(part) ?? part.id),
  );
  return shown.join('').trim();
}

/** The address, if a text consists of only a link, apart from mentions. */
export function onlyLink(text: string): string | undefined {
  const [, url] =
    /^<((?:https?|mailto|tel):[^<>|]*)(?:\|[^<>]*)?>$/u.exec(text.replaceAll(/<@[^<>]*>/gu, '').trim()) ?? [];
  return url === undefined ? undefined : unescaped(url);
}

function objectText(head: string, label: string, appUser: string | undefined): string | Mention {
  const id = head.slice(1);
  if (head.startsWith('@')) {
    if (id === appUser) return '';
    return label === '' ? { kind: 'person', id } : `@${label}`;
  }
  if (head.startsWith('#')) return label === '' ? { kind: 'channel', id } : `#${label}`;
  if (head.startsWith('!')) return commandText(id, label);
  return linkText(unescaped(head), label);
}

/** Converts `<!subteam^ID|@group>`, `<!date^seconds^format^link|fallback>`, `<!here>` and similar commands. */
function commandText(command: string, label: string): string | Mention {
  const [name = '', value = ''] = command.split('^');
  if (name === 'subteam' && label === '') return { kind: 'group', id: value };
  const ms = Number(value) * 1_000;
  if (name === 'date' && label === '' && Math.abs(ms) < 8.64e15) return new Date(ms).toISOString();
  return name === 'subteam' || name === 'date' ? label : `@${name}`;
}

/** A link with its label. Slack adds `http://`, `mailto:` and `tel:` to typed text. */
function linkText(url: string, label: string): string {
  if (label === '') return url;
  const typed = url.replace(/^(?:https?:\/\/|mailto:|tel:)/u, '').replace(/\/$/u, '');
  const isTyped = url.startsWith('tel:') ? digitsOf(label) === digitsOf(typed) : label === typed;
  return isTyped || label === url ? label : `${label} (${url})`;
}

/** A telephone number without spaces and signs, which people type and Slack omits. */
function digitsOf(number: string): string {
  return number.replaceAll(/[\s()./+-]/gu, '');
}

function cutAt(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
