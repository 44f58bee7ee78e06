const KEY = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

type Schema = Readonly<Record<string, unknown>>;

/** An argument that is mirrored in a header, whose name is `Mcp-Param-` and `name`. */
export interface ParamHeader {
  readonly name: string;
  /** The place of the argument. */
  readonly path: readonly string[];
}

/** The arguments that calls of a tool mirror in headers. */
export function paramHeadersOf(inputSchema: Schema): readonly ParamHeader[] {
  const found: ParamHeader[] = [];
  collectHeaders(inputSchema, [], found);
  return found;
}

/**
 * True if a tool's input schema mirrors only permitted parameters in headers (MCP 2026-07-28, Streamable HTTP): plain values,
 * reached only through `properties`, with distinct names that are valid tokens. Clients must drop other tools.
 */
export function hasValidParamHeaders(inputSchema: Schema): boolean {
  const found: ParamHeader[] = [];
  const isValid = collectHeaders(inputSchema, [], found);
  const names = found.map(({ name }) => name.toLowerCase());
  return isValid && new Set(names).size === names.length && countKeywords(inputSchema) === names.length;
}

function collectHeaders(schema: Schema, path: readonly string[], found: ParamHeader[]): boolean {
  return Object.entries(asSchema(schema.properties)).every(([key, property]) => {
    const inner = asSchema(property);
    const innerPath = [...path, key];
    if (KEY in inner) {
      const name = inner[KEY];
      if (typeof name !== 'string' || !TOKEN.test(name) || !TYPES.has(inner.type)) return false;
      found.push({ name, path: innerPath });
    }
    return collectHeaders(inner, innerPath, found);
  });
}

/** Counts the keyword everywhere, including where it is not permitted. */
function countKeywords(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = !Array.isArray(value) && KEY in value ? 1 : 0;
  return Object.values(value).reduce((sum: number, inner) => sum + countKeywords(inner), own);
}

function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? (value as Schema) : {};
}
