import { ProtocolError } from '@modelcontextprotocol/server';
import { isRecord, own } from '@parley/core/domain/plain-record';
import type { Turns } from '../../../turns/turns.ts';
import { RPC } from '../json-rpc.ts';

type FoundTool = NonNullable<Awaited<ReturnType<Turns['findOffered']>>>;
type DeclaredHeader = NonNullable<FoundTool['paramHeaders']>[number];

const ENCODED = /^=\?base64\?(.*)\?=$/s;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const DECIMAL = /^-?\d+(?:\.\d+)?$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Throws a mismatch unless the headers of a call mirror its arguments as the tool declares (MCP 2026-07-28, Streamable HTTP): a
 * proxy may have routed or admitted the call by its headers. A header without its argument is ignored.
 */
export function checkParamHeaders(
  { paramHeaders = [] }: Pick<FoundTool, 'paramHeaders'>,
  args: unknown,
  header: (name: string) => string | undefined,
): void {
  for (const declared of paramHeaders) {
    const name = `mcp-param-${declared.name.toLowerCase()}`;
    const argument = argumentAt(args, declared);
    if (argument === undefined || isMirrored(argument, header(name))) continue;
    throw new ProtocolError(
      RPC.headerMismatch,
      `The header ${name} is not what the argument ${declared.path.join('.')} is.`,
      { header: name },
    );
  }
}

/** The argument, if it is a plain value. Other values have no header. */
function argumentAt(args: unknown, { path }: DeclaredHeader): string | number | boolean | undefined {
  let value = args;
  for (const key of path) value = isRecord(value) ? own(value, key) : undefined;
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) return undefined;
  return ['string', 'number', 'boolean'].includes(typeof value) ? (value as string) : undefined;
}

function isMirrored(argument: string | number | boolean, header: string | undefined): boolean {
  const text = header === undefined ? undefined : decoded(header);
  if (typeof argument === 'number' && text !== undefined && DECIMAL.test(text))
    return Number(text) === argument;
  return text === String(argument);
}

function decoded(header: string): string | undefined {
  const [, base64] = ENCODED.exec(header) ?? [];
  if (base64 === undefined) return header;
  if (!BASE64.test(base64)) return undefined;
  try {
    return utf8.decode(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
}
