import { isRecord } from '@parley/core/domain/plain-record';

type Described = Readonly<Record<string, unknown>>;

// These mean the same wherever they come from, and clients open them by themselves.
const GLOBAL = /^(?:https?|data|mailto|tel):/i;
const BEGIN = /^[a-z][a-z0-9+.-]*:(?:\/\/)?/i;
// No id of a server has a `~`, and any part of a URI may. Some clients escape it.
const SCOPED = /^([a-z][a-z0-9+.-]*:(?:\/\/)?)([A-Za-z0-9._-]{1,64})(?:~|%7e)/i;
const PAGE = /^ui:\/\/\S+$/i;

/**
 * An address of a resource, or a template of addresses, as clients see it: `ui://<server>~page`, for two servers may have the
 * same one. It stays a URI of its scheme. What a template expands to, and what is relative to it, keeps the server.
 */
export function scopedAddress(server: string, uri: string): string {
  return GLOBAL.test(uri) ? uri : uri.replace(BEGIN, (begin) => `${begin}${server}~`);
}

/** What a client names: the server, where the address has one, and the server's own address. */
export function readAddress(address: string): { readonly server?: string; readonly uri: string } {
  const [scoped, begin = '', server] = GLOBAL.test(address) ? [] : (SCOPED.exec(address) ?? []);
  return scoped === undefined || server === undefined
    ? { uri: address }
    : { server, uri: `${begin}${address.slice(scoped.length)}` };
}

/** A `_meta` with other addresses of pages, under whatever keys. Those that have none are left out. */
export function withPages<Meta>(meta: Meta, addressOf: (uri: string) => string | undefined): Meta {
  const mapped = (value: unknown): unknown => {
    if (typeof value === 'string') return PAGE.test(value) ? addressOf(value) : value;
    if (Array.isArray(value)) return value.map(mapped).filter((inner) => inner !== undefined);
    if (!isRecord(value)) return value;
    const entries = Object.entries(value).map(([key, inner]) => [key, mapped(inner)]);
    return Object.fromEntries(entries.filter(([, inner]) => inner !== undefined));
  };
  return mapped(meta) as Meta;
}

/**
 * The one that an address names, of those with ids of servers. Clients that normalise the addresses of files write their
 * hosts in lower case: where no server has that id, the only one that differs in case alone is meant.
 */
export function serverNamed<One extends { readonly server: string }>(
  ones: readonly One[],
  server: string | undefined,
): One | undefined {
  const exact = ones.find((one) => one.server === server);
  if (exact !== undefined || server === undefined) return exact;
  const [alike, ...others] = ones.filter((one) => one.server.toLowerCase() === server.toLowerCase());
  return others.length === 0 ? alike : undefined;
}

/** Whether a `_meta` names that page. */
export function namesPage(meta: unknown, uri: string): boolean {
  let isNamed = false;
  withPages(meta, (page) => {
    isNamed ||= page === uri;
    return page;
  });
  return isNamed;
}

/** Puts the server into the addresses of what it returned: of links, contents, and pages in `_meta`. Data stays as it is. */
export function createScoping(server: string) {
  const address = (uri: string) => scopedAddress(server, uri);
  const list = (items: unknown, map: (item: Described) => Described) =>
    Array.isArray(items) ? items.map((item: unknown) => (isRecord(item) ? map(item) : item)) : items;

  const described = (given: Described): Described =>
    given._meta === undefined ? given : { ...given, _meta: withPages(given._meta, address) };

  function item(given: Described, key = 'uri'): Described {
    const { [key]: uri } = given;
    return { ...described(given), ...(typeof uri === 'string' && { [key]: address(uri) }) };
  }

  /** A block of content: a link has an address of its own, an embedded resource has one within. */
  function block(given: Described): Described {
    const { resource } = given;
    return { ...item(given), ...(isRecord(resource) && { resource: item(resource) }) };
  }

  return {
    item,
    /** A result of a tool. */
    result: (given: Described): Described => ({ ...described(given), content: list(given.content, block) }),
    /** The contents of a resource. */
    contents: (given: Described): Described => ({
      ...given,
      contents: list(given.contents, (one) => item(one)),
    }),
    /** A prompt with its values. */
    prompt: (given: Described): Described => ({
      ...given,
      messages: list(given.messages, (message) => ({
        ...message,
        ...(isRecord(message.content) && { content: block(message.content) }),
      })),
    }),
  };
}
