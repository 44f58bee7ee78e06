import { readFileSync } from 'node:fs';
import { FILE_VARIABLES } from './variables.ts';

type Source = Readonly<Record<string, string | undefined>>;

/**
 * The environment, completed by secrets from files: `NAME_FILE` is the path of a file with the value of `NAME`, as Docker and
 * Kubernetes mount secrets. A line break at the end of the file is not part of the value. An empty file counts as unset.
 */
export function withSecretFiles(source: Source): {
  readonly source: Source;
  readonly faults: readonly string[];
} {
  const values: Record<string, string> = {};
  const faults: string[] = [];
  for (const name of FILE_VARIABLES) {
    const path = source[`${name}_FILE`];
    if (path === undefined || path === '') continue;
    if (source[name]) faults.push(`${name}_FILE: set either it or ${name}, not both`);
    else {
      try {
        values[name] = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      } catch (error) {
        faults.push(`${name}_FILE: cannot be read (${(error as NodeJS.ErrnoException).code})`);
      }
    }
  }
  return { source: { ...source, ...values }, faults };
}
