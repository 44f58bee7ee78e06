const KEY = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

type Schema = Readonly<Record<string, unknown>>;

/** An argument that is mirrored in a header, `Mcp-Param-` and the name. */
export interface ParamHeader {
  readonly name: string;
  /** Where the argument is. */
  readonly path: readonly string[];
}

/** The arguments of a tool that its calls mirror in headers. */
export function paramHeadersOf(inputSchema: Schema): readonly ParamHeader[] {
  const found: ParamHeader[] = [];
  collectHeaders(inputSchema, [], found);
  return found;
}

/**
 * Whether a tool's input schema mirrors only permitted parameters in headers (MCP 2026-07-28, Streamable HTTP): plain
 * values, reached through `properties` alone, with distinct names that are tokens. Clients must drop other tools.
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
