const KEY = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

type Schema = Readonly<Record<string, unknown>>;

/**
 * Whether a tool's input schema asks only for what may be mirrored in headers (MCP 2026-07-28, Streamable HTTP):
 * plain values, reached through `properties` alone, under names that are tokens and differ. Clients must leave out
 * tools of which this is not true.
 */
export function hasFairParamHeaders(inputSchema: Schema): boolean {
  const names: string[] = [];
  const isFair = walk(inputSchema, names);
  return isFair && new Set(names).size === names.length && countIn(inputSchema) === names.length;
}

function walk(schema: Schema, names: string[]): boolean {
  return Object.values(asSchema(schema.properties)).every((property) => {
    const inner = asSchema(property);
    if (KEY in inner) {
      const name = inner[KEY];
      if (typeof name !== 'string' || !TOKEN.test(name) || !TYPES.has(inner.type)) return false;
      names.push(name.toLowerCase());
    }
    return walk(inner, names);
  });
}

/** Wherever it stands, places where it may not stand included. */
function countIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = !Array.isArray(value) && KEY in value ? 1 : 0;
  return Object.values(value).reduce((sum: number, inner) => sum + countIn(inner), own);
}

function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? (value as Schema) : {};
}
