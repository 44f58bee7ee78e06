import { fits, readYaml } from '../documents.ts';
import { type Kustomization, kustomization, type Manifest, manifest, type Workload } from './manifests.ts';

/** Where the manifests lie, relative to the root. */
export const directory = 'infra/kubernetes';
/** The form for Secrets; read by its own check and never applied. */
export const secretsTemplate = `${directory}/secrets.template.yaml`;

/** All manifests that are applied together, and what is wrong with their shape. */
export type Loaded = {
  readonly objects: readonly Manifest[];
  readonly kustomization: Kustomization | undefined;
  /** ConfigMaps that kustomize makes out of files, by name. */
  readonly generated: readonly string[];
  readonly problems: readonly string[];
};

/** Reads the manifests of one file; a `List` is not expected. */
export function readManifests(root: string, file: string): Pick<Loaded, 'objects' | 'problems'> {
  const documents = readYaml(root, file);
  const objects: Manifest[] = [];
  const problems = [...documents.problems];
  for (const value of documents.values) {
    const checked = fits(manifest, value, `${file} ${describe(value)}`);
    problems.push(...checked.problems);
    if (checked.value !== undefined) objects.push(checked.value);
  }
  return { objects, problems };
}

/** Reads the kustomization and everything it lists; directories among its resources are kustomizations themselves. */
export function loadManifests(root: string): Loaded {
  const top = readKustomization(root, directory);
  const objects: Manifest[] = [];
  const generated: string[] = [];
  const problems = [...top.problems];
  for (const resource of top.value?.resources ?? []) {
    if (resource.endsWith('.yaml')) {
      const file = readManifests(root, `${directory}/${resource}`);
      objects.push(...file.objects);
      problems.push(...file.problems);
    } else {
      const base = readKustomization(root, `${directory}/${resource}`);
      problems.push(...base.problems);
      generated.push(...(base.value?.configMapGenerator ?? []).map((generator) => generator.name));
    }
  }
  return { objects, kustomization: top.value, generated, problems };
}

function readKustomization(
  root: string,
  where: string,
): { readonly value: Kustomization | undefined; readonly problems: readonly string[] } {
  const file = `${where}/kustomization.yaml`;
  const documents = readYaml(root, file);
  const checked = fits(kustomization, documents.values[0], file);
  return { value: checked.value, problems: [...documents.problems, ...checked.problems] };
}

/** The workloads among the manifests. */
export function workloads(objects: readonly Manifest[]): readonly Workload[] {
  return objects.filter((object) => object.kind === 'Deployment' || object.kind === 'StatefulSet');
}

/** `Kind/name`, as people write it. */
export function title(object: Manifest): string {
  return `${object.kind}/${object.metadata.name}`;
}

function describe(value: unknown): string {
  if (typeof value !== 'object' || value === null) return 'document';
  const { kind, metadata } = value as { kind?: unknown; metadata?: { name?: unknown } };
  return `${String(kind)}/${String(metadata?.name)}`;
}
