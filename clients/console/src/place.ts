/** The paths of the pages. A segment that begins with a colon is an id. */
const PATHS = {
  overview: '/console',
  elicitations: '/console/elicitations',
  elicitation: '/console/elicitations/:id',
  approvals: '/console/approvals',
  approval: '/console/approvals/:id',
  turns: '/console/turns',
  turn: '/console/turns/:id',
  deliveries: '/console/deliveries',
  conversation: '/console/conversations/:id',
  people: '/console/people',
  person: '/console/people/:id',
  insights: '/console/insights',
} as const;

export type PageName = keyof typeof PATHS;

/** A place in the console: a page, the id that it shows, and its filters. */
export interface ConsolePlace {
  readonly page: PageName;
  readonly id: string;
  readonly query: URLSearchParams;
}

/** The place at a URL; undefined if the console has no such place. */
export function placeAt({ pathname, search }: Pick<URL, 'pathname' | 'search'>): ConsolePlace | undefined {
  const path = pathname.length > 1 ? pathname.replace(/\/$/, '') : pathname;
  for (const [page, pattern] of Object.entries(PATHS) as [PageName, string][]) {
    const [base = '', id] = pattern.split('/:');
    const isHere = id === undefined ? path === base : path.startsWith(`${base}/`);
    if (!isHere) continue;
    const query = new URLSearchParams(search);
    if (id === undefined) return { page, id: '', query };
    const segment = decoded(path.slice(base.length + 1));
    if (segment !== undefined) return { page, id: segment, query };
  }
  return undefined;
}

function decoded(segment: string): string | undefined {
  if (segment === '' || segment.includes('/')) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** The address of a place. Undefined and empty filters are omitted from its query. */
export function hrefOf(
  page: PageName,
  {
    id = '',
    query = {},
  }: { readonly id?: string; readonly query?: Readonly<Record<string, string | undefined>> } = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  return PATHS[page].replace(':id', () => encodeURIComponent(id)) + search;
}

/** The navigation entry to which a page belongs. */
export function sectionOf(page: PageName): PageName {
  if (page === 'elicitation') return 'elicitations';
  if (page === 'approval') return 'approvals';
  if (page === 'turn' || page === 'conversation') return 'turns';
  return page === 'person' ? 'people' : page;
}
