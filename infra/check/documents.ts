import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

/** An image reference that pins a version by a digest, or by a tag that contains a digit. */
export const pinnedImage = z.string().regex(/@sha256:|:[^:/]*\d[^:/]*$/, 'image is not pinned to a version');

/**
 * Reads the documents in a YAML file, whose path is absolute or relative to `root`. Kubernetes reads YAML 1.1, in which an
 * unquoted `off` is a boolean; Compose reads 1.2. An unreadable file and a duplicate key are problems.
 */
export function readYaml(
  root: string,
  file: string,
  version: '1.1' | '1.2' = '1.1',
): { readonly values: readonly unknown[]; readonly problems: readonly string[] } {
  try {
    const documents = parseAllDocuments(readFileSync(resolve(root, file), 'utf8'), { version, merge: true });
    const errors = documents.flatMap((document) => document.errors);
    if (errors.length > 0)
      return { values: [], problems: errors.map(({ message }) => `${file}: ${message}`) };
    return { values: documents.map((document) => document.toJS()), problems: [] };
  } catch (error) {
    return { values: [], problems: [`${file}: ${String(error)}`] };
  }
}

/** Checks a value against a schema. Each problem is one line with the place, the path and the fault. */
export function schemaProblems(schema: z.ZodType, value: unknown, place: string): readonly string[] {
  const result = schema.safeParse(value);
  if (result.success) return [];
  return result.error.issues.map((issue) => `${place} ${issue.path.join('.')}: ${issue.message}`);
}
