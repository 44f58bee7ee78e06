import { join } from 'node:path';
import { listFiles } from '../documents.ts';
import { findProgram, lastLines, run } from '../tools.ts';
import { type Check, judge, notRun, type Verdict } from '../verdict.ts';
import { directory, loadManifests, secretsTemplate, workloads } from './load.ts';
import { networkProblems } from './network-rules.ts';
import { podProblems, serviceProblems } from './pod-rules.ts';
import { secretsTemplateCheck } from './secrets.ts';
import { wiringProblems } from './wiring-rules.ts';

/** The manifests: their shape, what every pod must be, and whether what names each other exists. */
export const kubernetesChecks: readonly Check[] = [
  {
    name: 'kubernetes manifests parse and fit their kinds',
    run: (root) => judge(loadManifests(root).problems),
  },
  {
    name: 'kubernetes kustomization lists every manifest',
    run: (root) => {
      const listed = new Set(loadManifests(root).kustomization?.resources ?? []);
      const files = listFiles(root, directory, ['.yaml']).filter(
        (file) => file !== secretsTemplate && !file.endsWith('kustomization.yaml'),
      );
      return judge(
        files
          .filter((file) => !listed.has(file.slice(directory.length + 1)))
          .map((file) => `${file} is applied by nobody`),
      );
    },
  },
  {
    name: 'kubernetes pods are unprivileged, bounded, probed and pinned',
    run: (root) => judge(workloads(loadManifests(root).objects).flatMap(podProblems)),
  },
  {
    name: 'kubernetes services drain and answer the agreed probes',
    run: (root) =>
      judge(
        workloads(loadManifests(root).objects)
          .filter((workload) => workload.kind === 'Deployment')
          .flatMap(serviceProblems),
      ),
  },
  {
    name: 'kubernetes selectors, ports, affinity, scaling and disruption',
    run: (root) => judge(wiringProblems(loadManifests(root))),
  },
  { name: 'kubernetes network policies', run: (root) => judge(networkProblems(loadManifests(root).objects)) },
  secretsTemplateCheck,
  { name: 'kubectl kustomize renders', run: render },
];

async function render(root: string): Promise<Verdict> {
  const kubectl = findProgram('kubectl');
  if (kubectl === undefined) return notRun('kubectl is not installed');
  const { code, output } = await run(kubectl, ['kustomize', join(root, directory)]);
  return judge(code === 0 ? [] : [lastLines(output)]);
}
