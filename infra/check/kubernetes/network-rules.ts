import { title, workloads } from './load.ts';
import type { Manifest, Workload } from './manifests.ts';
import { ofKind } from './pod-rules.ts';
import { selects } from './wiring-rules.ts';

type Policy = Extract<Manifest, { kind: 'NetworkPolicy' }>;

/** Ports that must stay reachable, by the workload's name; everything else stays shut. */
const roads = [
  { to: 'parley-api', port: 3000 },
  { to: 'parley-api', port: 9464 },
  { to: 'parley-worker', port: 9464 },
  { to: 'parley-redis', port: 6379 },
] as const;

/** Everything is shut by default, the roads that exist are open, and no road comes from everywhere. */
export function networkProblems(objects: readonly Manifest[]): readonly string[] {
  const policies = ofKind(objects, 'NetworkPolicy');
  const problems: string[] = [];
  if (!policies.some(shutsEverything)) problems.push('no NetworkPolicy denies everything by default');
  for (const policy of policies) {
    const targets = workloads(objects).filter((item) => means(policy, item));
    if (targets.length === 0) problems.push(`${title(policy)}: selects no pods`);
  }
  for (const { to, port } of roads) {
    const workload = workloads(objects).find((item) => item.metadata.name === to);
    if (workload === undefined) continue;
    const opening = policies
      .filter((policy) => means(policy, workload))
      .flatMap((policy) => policy.spec.ingress ?? [])
      .filter((rule) => rule.ports.some((item) => item.port === port));
    if (opening.length === 0) problems.push(`no NetworkPolicy lets anybody reach ${to} on ${port}`);
  }
  return [...problems, ...wayOutProblems(policies, objects)];
}

function wayOutProblems(policies: readonly Policy[], objects: readonly Manifest[]): readonly string[] {
  const problems: string[] = [];
  for (const workload of workloads(objects)) {
    const out = policies
      .filter((policy) => means(policy, workload))
      .flatMap((policy) => policy.spec.egress ?? []);
    const reaches = (port: number): boolean =>
      out.some((rule) => rule.ports.some((item) => item.port === port));
    if (!reaches(53)) problems.push(`${title(workload)}: may not ask DNS`);
    if (workload.kind === 'Deployment' && !reaches(6379))
      problems.push(`${title(workload)}: may not reach Redis`);
  }
  for (const policy of policies) {
    for (const { ipBlock } of (policy.spec.egress ?? []).flatMap((rule) => rule.to)) {
      if (ipBlock?.cidr === '0.0.0.0/0' && !(ipBlock.except ?? []).includes('169.254.0.0/16')) {
        problems.push(`${title(policy)}: reaches the cloud's metadata service`);
      }
    }
  }
  return problems;
}

function shutsEverything(policy: Policy): boolean {
  const { podSelector, policyTypes, ingress, egress } = policy.spec;
  return (
    Object.keys(podSelector).length === 0 &&
    policyTypes.length === 2 &&
    (ingress ?? []).length === 0 &&
    (egress ?? []).length === 0
  );
}

function means(policy: Policy, workload: Workload): boolean {
  return selects(policy.spec.podSelector, workload.spec.template.metadata.labels);
}
