import type { z } from 'zod';

/** What was kept as JSON; nothing when it is damaged. */
export function parsed<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const result = schema.safeParse(value);
  return result.success ? result.data : undefined;
}
