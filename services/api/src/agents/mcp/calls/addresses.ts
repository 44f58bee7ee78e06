/**
 * Adds the server's id to the addresses of resources for MCP clients, and reads it back. Pure; which server is meant is decided
 * by the callers.
 */

import { isRecord } from '@parley/core/domain/plain-record';

type Described = Readonly<Record<string, unknown>>;

// URIs of these schemes mean the same on every server, and clients open them directly.
const GLOBAL = /^(?:https?|data|mailto|tel):/i;
const BEGIN = /^[a-z][a-z0-9+.-]*:(?:\/\/)?/i;
// The separator after a server's id. Ids never contain `~`, and it is valid anywhere in a URI. Some clients escape it.
const SCOPED = /^([a-z][a-z0-9+.-]*:(?:\/\/)?)([A-Za-z0-9._-]{1,64})(?:~|%7e)/i;
const PAGE = /^ui:\/\/\S+$/i;

/**
 * The address of a resource, or a template of addresses, as clients see it: `ui://<server>~page`. The server's id is added
 * because two servers may use the same address. The scheme stays the same, and expansions and relative addresses keep the id.
 */
export function scopedAddress(server: string, uri: string): string {
  return GLOBAL.test(uri) ? uri : uri.replace(BEGIN, (begin) => `${begin}${server}~`);
}

/** Splits a client's address into the server's id, if it contains one, and the server's own address. */
export function readAddress(address: string): { readonly server?: string; readonly uri: string } {
  const [scoped, begin = '', server] = GLOBAL.test(address) ? [] : (SCOPED.exec(address) ?? []);
  return scoped === undefined || server === undefined
    ? { uri: address }
    : { server, uri: `${begin}${address.slice(scoped.length)}` };
}

/** A `_meta` in which the addresses of pages are replaced, under any key. Pages without a new address are removed. */
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
 * Finds the entry for a server's id from an address. Some clients write hosts in lower case. So if no id matches exactly, a
 * single id that differs only in case is used.
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

/** True if a `_meta` contains the address of that page. */
export function namesPage(meta: unknown, uri: string): boolean {
  let isNamed = false;
  withPages(meta, (page) => {
    isNamed ||= page === uri;
    return page;
  });
  return isNamed;
}

/** Adds the server's id to the addresses in its replies: links, contents, and pages in `_meta`. Data is not changed. */
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

  /** A block of content. A link has its own address, and an embedded resource contains one. */
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
    /** A prompt with its arguments filled in. */
    prompt: (given: Described): Described => ({
      ...given,
      messages: list(given.messages, (message) => ({
        ...message,
        ...(isRecord(message.content) && { content: block(message.content) }),
      })),
    }),
  };
}
