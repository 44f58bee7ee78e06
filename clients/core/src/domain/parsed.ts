import type { z } from 'zod';

/** Parses a JSON text; undefined if it is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses stored JSON by a schema; undefined if it is damaged. */
export function parsed<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> | undefined {
  return schema.safeParse(jsonIn(text)).data;
}
