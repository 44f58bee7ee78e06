import { pinned } from '../image-names.ts';
import { title } from './load.ts';
import type { Manifest, Workload } from './manifests.ts';
import type { Container, PodSpec } from './pods.ts';

/** What every pod must be: unprivileged, bounded, probed, and on a pinned image. */
export function podProblems(workload: Workload): readonly string[] {
  const where = title(workload);
  const pod = workload.spec.template.spec;
  return [
    ...sandboxProblems(pod).map((problem) => `${where}: ${problem}`),
    ...pod.containers.flatMap((container) =>
      [
        ...containerProblems(container),
        ...mountProblems(container, workload),
        ...probeProblems(container, pod),
      ].map((problem) => `${where} container ${container.name}: ${problem}`),
    ),
  ];
}

/** What the pods of the api and the worker must do besides: the agreed probes, and a drain with time enough. */
export function serviceProblems(workload: Workload): readonly string[] {
  const pod = workload.spec.template.spec;
  const problems: string[] = [];
  if ((pod.terminationGracePeriodSeconds ?? 0) < 30) problems.push('needs 30 s of grace for its drain');
  for (const container of pod.containers) {
    for (const [probe, path] of probePaths) {
      const found = container[probe]?.httpGet?.path;
      if (found !== path) problems.push(`${probe} asks ${found ?? 'nothing'} instead of ${path}`);
    }
    if (container.lifecycle?.preStop === undefined) {
      problems.push('has no preStop pause, so calls still arrive after SIGTERM');
    }
  }
  return problems.map((problem) => `${title(workload)}: ${problem}`);
}

const probePaths = [
  ['startupProbe', '/healthz'],
  ['livenessProbe', '/healthz'],
  ['readinessProbe', '/readyz'],
] as const;

function sandboxProblems(pod: PodSpec): readonly string[] {
  const problems: string[] = [];
  if (pod.securityContext?.runAsNonRoot !== true) problems.push('runAsNonRoot is not true');
  if ((pod.securityContext?.runAsUser ?? 0) === 0) problems.push('runs as root');
  if (pod.securityContext?.seccompProfile?.type !== 'RuntimeDefault') problems.push('no seccomp profile');
  if (pod.automountServiceAccountToken !== false) problems.push('mounts a token for the cluster');
  if (pod.enableServiceLinks !== false)
    problems.push('enableServiceLinks adds variables beside PARLEY_ ones');
  return problems;
}

function containerProblems(container: Container): readonly string[] {
  const { securityContext: context, resources } = container;
  const problems: string[] = [];
  if (!pinned(container.image)) problems.push(`image ${container.image} is not pinned to a version`);
  if (context?.allowPrivilegeEscalation !== false) problems.push('may escalate its privileges');
  if (context?.privileged === true) problems.push('is privileged');
  if (context?.runAsUser === 0 || context?.runAsNonRoot === false) problems.push('runs as root');
  if (context?.readOnlyRootFilesystem !== true) problems.push('can write to its image');
  if (!(context?.capabilities?.drop ?? []).includes('ALL') || context?.capabilities?.add !== undefined) {
    problems.push('keeps capabilities');
  }
  if (resources?.requests?.cpu === undefined || resources.requests.memory === undefined) {
    problems.push('requests no cpu and memory');
  }
  if (resources?.limits?.memory === undefined) problems.push('has no memory limit');
  return problems;
}

function probeProblems(container: Container, pod: PodSpec): readonly string[] {
  const ports = new Set(container.ports?.flatMap((port) => [port.name, port.containerPort]));
  return (['startupProbe', 'livenessProbe', 'readinessProbe'] as const).flatMap((kind) => {
    const probe = container[kind];
    if (probe === undefined) return [`has no ${kind}`];
    const port = probe.httpGet?.port ?? probe.tcpSocket?.port;
    if (port !== undefined && !ports.has(port)) return [`${kind} asks port ${port}, which it does not open`];
    if (kind === 'livenessProbe' && (probe.failureThreshold ?? 3) * (probe.periodSeconds ?? 10) < 10) {
      return [`${kind} kills after less than 10 s (grace ${pod.terminationGracePeriodSeconds ?? 30} s)`];
    }
    return [];
  });
}

function mountProblems(container: Container, workload: Workload): readonly string[] {
  const claims = workload.kind === 'StatefulSet' ? (workload.spec.volumeClaimTemplates ?? []) : [];
  const volumes = new Set([
    ...(workload.spec.template.spec.volumes ?? []).map((volume) => volume.name),
    ...claims.map((claim) => claim.metadata.name),
  ]);
  return (container.volumeMounts ?? [])
    .filter((mount) => !volumes.has(mount.name))
    .map((mount) => `mounts ${mount.name}, which is no volume of the pod`);
}

/** Whether every key of the wanted labels has that value. */
export function carries(
  labels: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}

/** The objects of one kind, typed. */
export function ofKind<K extends Manifest['kind']>(
  objects: readonly Manifest[],
  kind: K,
): readonly Extract<Manifest, { kind: K }>[] {
  return objects.filter((object): object is Extract<Manifest, { kind: K }> => object.kind === kind);
}
