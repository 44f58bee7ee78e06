import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { z } from 'zod';
import { readYaml } from './documents.ts';
import { policyProblems } from './kubernetes-policy.ts';
import { directory, type Manifest, manifestFiles, readManifests, secretsTemplate } from './manifests.ts';
import { programCheck } from './programs.ts';
import { secretsTemplateCheck } from './secrets.ts';
import { type Check, judge, type Verdict } from './verdict.ts';

/** Checks the manifests. kubernetes-models checks their form and kubectl the kustomization; the other checks are policy. */
export const kubernetesChecks: readonly Check[] = [
  { name: 'kubernetes schema', run: schemaCheck },
  programCheck('kubectl kustomize', 'kubectl', () => ['kustomize', directory]),
  { name: 'kubernetes kustomization', run: (root) => judge(kustomizationProblems(root)) },
  { name: 'kubernetes policy', run: (root) => judge(policyProblems(readManifests(root).objects)) },
  secretsTemplateCheck,
];

const require = createRequire(import.meta.url);

function schemaCheck(root: string): Verdict {
  const { objects, problems } = readManifests(root);
  const template = readYaml(root, join(directory, secretsTemplate));
  const found = [...problems, ...template.problems];
  for (const object of [...objects, ...(template.values as Manifest[])]) {
    const place = `${object.kind}/${object.metadata.name}`;
    const models = require(`kubernetes-models/${object.apiVersion}/${object.kind}`);
    const unread = new Set<string>();
    try {
      models[object.kind].prototype.validate.call(recordReads(object, '', unread));
    } catch (error) {
      found.push(`${place}: ${error instanceof Error ? error.message : error}`);
    }
    found.push(...[...unread].map((path) => `${place}: unknown field ${path}`));
  }
  return judge(found);
}

/**
 * Wraps an object so that `unread` finally contains the fields that were not read. The validator reads exactly the fields in
 * the Kubernetes schema. The schema allows unknown fields, and the API drops them silently.
 */
function recordReads<T extends object>(value: T, path: string, unread: Set<string>): T {
  const children = new Map<PropertyKey, unknown>();
  for (const [key, child] of Object.entries(value)) {
    unread.add(`${path}/${key}`);
    const isObject = typeof child === 'object' && child !== null;
    children.set(key, isObject ? recordReads(child, `${path}/${key}`, unread) : child);
  }
  return new Proxy(value, {
    get: (target, key) => {
      unread.delete(`${path}/${String(key)}`);
      return children.has(key) ? children.get(key) : Reflect.get(target, key);
    },
  });
}

function kustomizationProblems(root: string): readonly string[] {
  const [value] = readYaml(root, join(directory, 'kustomization.yaml')).values;
  const { resources } = z.looseObject({ resources: z.array(z.string()) }).parse(value);
  const unlisted = manifestFiles(root).filter((file) => !resources.includes(file));
  const missing = resources.filter((file) => !existsSync(join(root, directory, file)));
  return [
    ...unlisted.map((file) => `${file} is not applied`),
    ...missing.map((file) => `${file} does not exist`),
    ...(resources.includes(secretsTemplate) ? [`${secretsTemplate} is applied`] : []),
  ];
}
