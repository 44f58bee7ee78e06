import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import { readYaml } from './documents.ts';

/** The folder of the manifests, relative to the root. */
export const directory = 'infra/kubernetes';
/** The template for Secrets, in the same folder. It is never applied. */
export const secretsTemplate = 'secrets.template.yaml';

/** A Kubernetes object, its fields unchecked. */
export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
};

/** Reads every manifest in the folder except the template for Secrets. */
export function readManifests(root: string): {
  readonly objects: readonly Manifest[];
  readonly problems: readonly string[];
} {
  const files = manifestFiles(root).map((file) => readYaml(root, join(directory, file)));
  return {
    objects: files.flatMap(({ values }) => values as Manifest[]),
    problems: files.flatMap(({ problems }) => problems),
  };
}

/** The files that the kustomization must list. */
export function manifestFiles(root: string): readonly string[] {
  const names = readdirSync(join(root, directory)).filter((name) => name.endsWith('.yaml'));
  return names.filter((name) => name !== 'kustomization.yaml' && name !== secretsTemplate);
}

/** The objects of one kind; `T` is the type of that kind. */
export function ofKind<T>(objects: readonly Manifest[], kind: string): readonly (T & Manifest)[] {
  return objects.filter((object) => object.kind === kind) as (T & Manifest)[];
}

/** The variables of each ConfigMap, and of each Secret in the template, by the object's name. */
export function readVariables(root: string): ReadonlyMap<string, Readonly<Record<string, string>>> {
  const template = readYaml(root, join(directory, secretsTemplate)).values as Manifest[];
  return new Map([
    ...ofKind<IConfigMap>(readManifests(root).objects, 'ConfigMap').map(
      ({ metadata, data }) => [metadata.name, data ?? {}] as const,
    ),
    ...ofKind<ISecret>(template, 'Secret').map(
      ({ metadata, stringData }) => [metadata.name, stringData ?? {}] as const,
    ),
  ]);
}
