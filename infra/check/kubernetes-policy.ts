/**
 * The policy for the Kubernetes manifests as schemas: what a cluster would accept but Parley does not. Their form is checked in
 * `kubernetes.ts`.
 */

import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import type { IIngress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { IService } from 'kubernetes-models/v1/Service';
import { z } from 'zod';
import { pinnedImage, schemaProblems } from './documents.ts';
import { type Manifest, ofKind } from './manifests.ts';

const http = (path: string): z.ZodType =>
  z.looseObject({ httpGet: z.looseObject({ path: z.literal(path) }) });
const workload = (pod: z.ZodType): z.ZodType =>
  z.looseObject({ spec: z.looseObject({ template: z.looseObject({ spec: pod }) }) });

/** Pods that satisfy Pod Security's level "restricted", and that also have limits, probes and pinned images. */
const restrictedPod = z.looseObject({
  automountServiceAccountToken: z.literal(false),
  // Service links would add variables such as PARLEY_API_PORT beside Parley's own settings.
  enableServiceLinks: z.literal(false),
  securityContext: z.looseObject({
    runAsNonRoot: z.literal(true),
    runAsUser: z.int().min(1),
    seccompProfile: z.looseObject({ type: z.literal('RuntimeDefault') }),
  }),
  containers: z.array(
    z.looseObject({
      image: pinnedImage,
      startupProbe: z.looseObject({}),
      livenessProbe: z.looseObject({}),
      readinessProbe: z.looseObject({}),
      resources: z.looseObject({
        requests: z.looseObject({ cpu: z.string(), memory: z.string() }),
        limits: z.looseObject({ memory: z.string() }),
      }),
      securityContext: z.looseObject({
        allowPrivilegeEscalation: z.literal(false),
        readOnlyRootFilesystem: z.literal(true),
        capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
      }),
    }),
  ),
});

/** Pods of the api and the worker: liveness must not depend on Redis, and a drain takes up to 30 s. */
const servicePod = z.looseObject({
  terminationGracePeriodSeconds: z.int().min(30),
  containers: z.array(
    z.looseObject({
      livenessProbe: http('/healthz'),
      readinessProbe: http('/readyz'),
      lifecycle: z.looseObject({ preStop: z.looseObject({}) }),
    }),
  ),
});

const annotations = z
  .looseObject({
    'nginx.ingress.kubernetes.io/proxy-buffering': z.literal('off'),
    'nginx.ingress.kubernetes.io/proxy-read-timeout': z.literal('3600'),
    // `non_idempotent` would send a POST twice.
    'nginx.ingress.kubernetes.io/proxy-next-upstream': z.literal('error timeout'),
  })
  .refine(
    (value) => !/affinity|session-cookie|upstream-hash-by/.test(Object.keys(value).join()),
    'session affinity',
  );
const notSecret = z
  .string()
  .regex(/^(?!.*(PASSWORD|SECRET|API_KEYS|PRIVATE|VAULT_KEY))/, 'belongs into a Secret');

/** The requirements for each kind of object. */
const policies: Readonly<Record<string, z.ZodType>> = {
  Deployment: workload(restrictedPod.and(servicePod)),
  StatefulSet: workload(restrictedPod),
  Service: z.looseObject({ spec: z.looseObject({ sessionAffinity: z.literal('None').optional() }) }),
  Ingress: z.looseObject({
    metadata: z.looseObject({ annotations: annotations }),
  }),
  ConfigMap: z.looseObject({ data: z.record(notSecret, z.string()) }),
  HorizontalPodAutoscaler: z.looseObject({ spec: z.looseObject({ minReplicas: z.int().min(2) }) }),
  // A node drain takes one pod at a time: 0 would forbid every drain.
  PodDisruptionBudget: z.looseObject({ spec: z.looseObject({ maxUnavailable: z.literal(1) }) }),
};

/** Faults that a cluster would accept silently. */
export function policyProblems(objects: readonly Manifest[]): readonly string[] {
  const single = objects.flatMap((object) => {
    const policy = policies[object.kind] ?? z.unknown();
    return schemaProblems(policy, object, `${object.kind}/${object.metadata.name}`);
  });
  return [...single, ...referenceProblems(objects), ...networkProblems(objects)];
}

function referenceProblems(objects: readonly Manifest[]): readonly string[] {
  const deployments = ofKind<IDeployment>(objects, 'Deployment');
  const pods = [...deployments, ...ofKind<IDeployment>(objects, 'StatefulSet')];
  const ports = pods
    .flatMap(({ spec }) => spec?.template.spec?.containers ?? [])
    .flatMap((container) => (container.ports ?? []).map(({ name }) => name));
  const targets = ofKind<IService>(objects, 'Service').flatMap(({ spec }) => spec?.ports ?? []);
  const scalers = ofKind<IHorizontalPodAutoscaler>(objects, 'HorizontalPodAutoscaler');
  const scaled = new Set(scalers.map(({ spec }) => spec?.scaleTargetRef.name));
  const hosts = ofKind<IIngress>(objects, 'Ingress').flatMap(({ spec }) => spec?.rules ?? []);
  const urls = ofKind<IConfigMap>(objects, 'ConfigMap').flatMap(({ data }) => data?.PARLEY_PUBLIC_URL ?? []);
  return [
    ...targets
      .filter(({ targetPort }) => !ports.some((port) => port === targetPort))
      .map(({ targetPort }) => `port ${targetPort} of a Service is not open on any pod`),
    ...deployments
      .filter(({ metadata, spec }) => scaled.has(metadata.name) && spec?.replicas !== undefined)
      .map(
        ({ metadata }) => `${metadata.name} fixes replicas, so every apply resets what the autoscaler chose`,
      ),
    ...urls
      .filter((url) => !hosts.some(({ host }) => url === `https://${host}`))
      .map((url) => `no Ingress has the host of PARLEY_PUBLIC_URL ${url}`),
  ];
}

/** Everything is closed by default, Redis is open only to both services, and the metadata service is closed to all pods. */
function networkProblems(objects: readonly Manifest[]): readonly string[] {
  const specs = ofKind<INetworkPolicy>(objects, 'NetworkPolicy').flatMap(({ spec }) => spec ?? []);
  const closesAll = ({ podSelector, policyTypes, ingress, egress }: (typeof specs)[number]): boolean =>
    JSON.stringify([podSelector, policyTypes, ingress, egress]) === '[{},["Ingress","Egress"],null,null]';
  const rules = specs.flatMap(({ ingress = [], egress = [] }) => [...ingress, ...egress]);
  const toRedis = rules.filter(({ ports = [] }) => ports.some(({ port }) => port === 6379));
  const blocks = specs.flatMap(({ egress = [] }) => egress.flatMap(({ to = [] }) => to));
  const problems: string[] = [];
  if (!specs.some(closesAll)) problems.push('no NetworkPolicy denies everything by default');
  if (toRedis.length !== 2) problems.push('port 6379 must be open from the services and on Redis');
  if (!blocks.every(({ ipBlock }) => ipBlock?.except?.includes('169.254.0.0/16') ?? ipBlock === undefined))
    problems.push("a NetworkPolicy opens the cloud's metadata service");
  return problems;
}
