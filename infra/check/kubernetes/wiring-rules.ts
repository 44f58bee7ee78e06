import { type Loaded, title, workloads } from './load.ts';
import type { Manifest, Workload } from './manifests.ts';
import { carries, ofKind } from './pod-rules.ts';
import type { Selector } from './pods.ts';

type Labels = Readonly<Record<string, string>>;

/** Objects that name each other must mean each other: selectors, ports, configuration, scaling. */
export function wiringProblems(loaded: Loaded): readonly string[] {
  const { objects } = loaded;
  return [
    ...workloads(objects).flatMap((workload) => [
      ...selectorProblems(workload),
      ...spreadProblems(workload),
      ...sourceProblems(workload, loaded),
    ]),
    ...serviceProblems(objects),
    ...ingressProblems(objects),
    ...scalingProblems(objects),
    ...disruptionProblems(objects),
    ...configProblems(objects),
    ...publicUrlProblems(objects),
  ];
}

function selectorProblems(workload: Workload): readonly string[] {
  const { selector, template } = workload.spec;
  return carries(template.metadata.labels, selector.matchLabels)
    ? []
    : [`${title(workload)}: its selector does not match its own pods`];
}

function spreadProblems(workload: Workload): readonly string[] {
  if (workload.kind === 'StatefulSet') return [];
  const constraints = workload.spec.template.spec.topologySpreadConstraints ?? [];
  const labels = workload.spec.template.metadata.labels;
  if (!constraints.some((constraint) => constraint.topologyKey === 'kubernetes.io/hostname')) {
    return [`${title(workload)}: all its pods may land on one node`];
  }
  return constraints.every((constraint) => selects(constraint.labelSelector, labels))
    ? []
    : [`${title(workload)}: a spread constraint counts other pods than its own`];
}

function sourceProblems(workload: Workload, loaded: Loaded): readonly string[] {
  const maps = new Set([
    ...ofKind(loaded.objects, 'ConfigMap').map((map) => map.metadata.name),
    ...loaded.generated,
  ]);
  const pod = workload.spec.template.spec;
  const named = [
    ...pod.containers.flatMap((container) =>
      (container.envFrom ?? []).map((from) => from.configMapRef?.name),
    ),
    ...(pod.volumes ?? []).map((volume) => volume.configMap?.name),
  ];
  const accounts = ofKind(loaded.objects, 'ServiceAccount').map((account) => account.metadata.name);
  const account = pod.serviceAccountName;
  return [
    ...named
      .filter((name) => name !== undefined && !maps.has(name))
      .map((name) => `${title(workload)}: reads ConfigMap ${name}, which does not exist`),
    ...(account === undefined || accounts.includes(account)
      ? []
      : [`${title(workload)}: no account ${account}`]),
  ];
}

function serviceProblems(objects: readonly Manifest[]): readonly string[] {
  return ofKind(objects, 'Service').flatMap((service) => {
    const target = workloads(objects).find((workload) =>
      carries(workload.spec.template.metadata.labels, service.spec.selector),
    );
    if (target === undefined) return [`${title(service)}: selects no pods`];
    const open = target.spec.template.spec.containers.flatMap((container) =>
      (container.ports ?? []).flatMap((port) => [port.name, port.containerPort]),
    );
    return [
      ...service.spec.ports
        .filter((port) => !open.includes(port.targetPort))
        .map((port) => `${title(service)}: port ${port.targetPort} is not open on ${title(target)}`),
      ...(service.spec.sessionAffinity === 'ClientIP'
        ? [`${title(service)}: session affinity, while any pod must serve any call`]
        : []),
    ];
  });
}

function ingressProblems(objects: readonly Manifest[]): readonly string[] {
  return ofKind(objects, 'Ingress').flatMap((ingress) => {
    const notes = ingress.metadata.annotations ?? {};
    const note = (key: string): string | undefined => notes[`nginx.ingress.kubernetes.io/${key}`];
    const problems: string[] = [];
    for (const key of Object.keys(notes)) {
      if (/affinity|session-cookie|upstream-hash-by/.test(key)) problems.push(`session affinity by ${key}`);
    }
    if (note('proxy-buffering') !== 'off') problems.push('buffers streams');
    if (Number(note('proxy-read-timeout')) < 3600 || note('proxy-read-timeout') === undefined) {
      problems.push('cuts silent long polls before an hour');
    }
    if (note('proxy-next-upstream')?.includes('non_idempotent')) problems.push('sends a POST twice');
    for (const { backend } of ingress.spec.rules.flatMap((rule) => rule.http.paths)) {
      const service = ofKind(objects, 'Service').find((item) => item.metadata.name === backend.service.name);
      const { name, number } = backend.service.port;
      if (!service?.spec.ports.some((port) => port.name === name || port.port === number)) {
        problems.push(`leads to ${backend.service.name}, which has no such port`);
      }
    }
    return problems.map((problem) => `${title(ingress)}: ${problem}`);
  });
}

function scalingProblems(objects: readonly Manifest[]): readonly string[] {
  return ofKind(objects, 'HorizontalPodAutoscaler').flatMap((scaler) => {
    const { scaleTargetRef, minReplicas, maxReplicas } = scaler.spec;
    const target = ofKind(objects, 'Deployment').find((item) => item.metadata.name === scaleTargetRef.name);
    const problems: string[] = [];
    if (target === undefined) problems.push(`scales ${scaleTargetRef.name}, which does not exist`);
    if (target?.spec.replicas !== undefined)
      problems.push('its target fixes replicas, and every apply resets them');
    if (minReplicas < 2 || minReplicas > maxReplicas)
      problems.push('needs at least two pods, and no more than most');
    return problems.map((problem) => `${title(scaler)}: ${problem}`);
  });
}

function disruptionProblems(objects: readonly Manifest[]): readonly string[] {
  const budgets = ofKind(objects, 'PodDisruptionBudget');
  return ofKind(objects, 'Deployment').flatMap((deployment) => {
    const labels = deployment.spec.template.metadata.labels;
    const own = budgets.filter((budget) => selects(budget.spec.selector, labels));
    const scaler = ofKind(objects, 'HorizontalPodAutoscaler').find(
      (item) => item.spec.scaleTargetRef.name === deployment.metadata.name,
    );
    const replicas = scaler?.spec.minReplicas ?? deployment.spec.replicas ?? 1;
    if (own.length !== 1)
      return [`${title(deployment)}: has ${own.length} disruption budgets instead of one`];
    return own
      .filter(({ spec }) => !leavesRoom(spec.maxUnavailable, spec.minAvailable, replicas))
      .map((budget) => `${title(budget)}: lets every pod go at once, or none`);
  });
}

function leavesRoom(
  maxUnavailable: number | string | undefined,
  minAvailable: number | string | undefined,
  replicas: number,
): boolean {
  if (typeof maxUnavailable === 'number') return maxUnavailable >= 1 && maxUnavailable < replicas;
  if (typeof minAvailable === 'number') return minAvailable >= 1 && minAvailable < replicas;
  const percent = Number.parseInt(String(maxUnavailable ?? minAvailable), 10);
  return percent > 0 && percent < 100;
}

function configProblems(objects: readonly Manifest[]): readonly string[] {
  return ofKind(objects, 'ConfigMap').flatMap((map) =>
    Object.keys(map.data)
      .filter((key) => /PASSWORD|SECRET|API_KEYS|PRIVATE|VAULT_KEY/.test(key))
      .map((key) => `${title(map)}: ${key} belongs into a Secret`),
  );
}

/** Links to the connect pages must lead to the pods. */
function publicUrlProblems(objects: readonly Manifest[]): readonly string[] {
  const rules = ofKind(objects, 'Ingress').flatMap((ingress) => ingress.spec.rules);
  return ofKind(objects, 'ConfigMap').flatMap((map) => {
    const url = map.data.PARLEY_PUBLIC_URL;
    if (url === undefined || !URL.canParse(url)) return [];
    const { host } = new URL(url);
    const paths = rules.filter((rule) => rule.host === host).flatMap((rule) => rule.http.paths);
    const leads = paths.some(({ path, pathType }) => pathType === 'Prefix' && /^\/(?:auth\/?)?$/.test(path));
    return leads ? [] : [`${title(map)}: no Ingress leads /auth of PARLEY_PUBLIC_URL to the pods`];
  });
}

/** Whether a selector means pods with these labels. */
export function selects(selector: Selector, labels: Labels): boolean {
  const expressions = (selector.matchExpressions ?? []).every(({ key, operator, values }) => {
    const value = labels[key];
    if (operator === 'Exists') return value !== undefined;
    if (operator === 'DoesNotExist') return value === undefined;
    const listed = value !== undefined && (values ?? []).includes(value);
    return operator === 'In' ? listed : !listed;
  });
  return expressions && carries(labels, selector.matchLabels ?? {});
}
