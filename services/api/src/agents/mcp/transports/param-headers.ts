const KEY = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

type Schema = Readonly<Record<string, unknown>>;

/**
 * Whether a tool's input schema mirrors only permitted parameters in headers (MCP 2026-07-28, Streamable HTTP): plain
 * values, reached through `properties` alone, with distinct names that are tokens. Clients must drop other tools.
 */
export function hasValidParamHeaders(inputSchema: Schema): boolean {
  const names: string[] = [];
  const isValid = collectNames(inputSchema, names);
  return isValid && new Set(names).size === names.length && countKeywords(inputSchema) === names.length;
}

function collectNames(schema: Schema, names: string[]): boolean {
  return Object.values(asSchema(schema.properties)).every((property) => {
    const inner = asSchema(property);
    if (KEY in inner) {
      const name = inner[KEY];
      if (typeof name !== 'string' || !TOKEN.test(name) || !TYPES.has(inner.type)) return false;
      names.push(name.toLowerCase());
    }
    return collectNames(inner, names);
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
