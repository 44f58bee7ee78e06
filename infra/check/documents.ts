import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { z } from 'zod';

/** The documents of one YAML file as plain data, or what keeps it from being read. */
export type Documents = { readonly values: readonly unknown[]; readonly problems: readonly string[] };

/**
 * Reads YAML the way Kubernetes and Compose do: version 1.1, where an unquoted `off` is a boolean. Duplicate keys are
 * problems.
 */
export function parseYaml(text: string, file: string): Documents {
  const documents = parseAllDocuments(text, { version: '1.1', merge: true });
  const values: unknown[] = [];
  const problems: string[] = [];
  for (const document of documents) {
    for (const error of document.errors) problems.push(`${file}: ${firstLine(error.message)}`);
    if (document.errors.length === 0) values.push(document.toJS());
  }
  return { values, problems };
}

/** Reads and parses one YAML file, relative to `root` or absolute; a missing file is a problem, not an exception. */
export function readYaml(root: string, file: string): Documents {
  try {
    return parseYaml(readFileSync(resolve(root, file), 'utf8'), file);
  } catch (error) {
    return {
      values: [],
      problems: [`${file}: ${error instanceof Error ? firstLine(error.message) : error}`],
    };
  }
}

/** The names under a directory that end in one of `endings`, sorted, relative to `root`; subdirectories too. */
export function listFiles(root: string, directory: string, endings: readonly string[]): readonly string[] {
  return readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' })
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .map((name) => join(directory, name))
    .sort();
}

/** Checks data against a schema; each issue becomes one line that says where and what. */
export function fits<T>(
  schema: z.ZodType<T>,
  value: unknown,
  where: string,
): { readonly value?: T; readonly problems: readonly string[] } {
  const result = schema.safeParse(value);
  if (result.success) return { value: result.data, problems: [] };
  return {
    problems: result.error.issues.map((issue) => `${where} ${issue.path.join('.')}: ${issue.message}`),
  };
}

function firstLine(message: string): string {
  return message.split('\n')[0] ?? message;
}
