import { z } from 'zod';
import {
  count,
  metadata,
  name,
  podSpec,
  portNumber,
  portReference,
  quantity,
  selector,
  texts,
} from './pods.ts';

const template = z.strictObject({
  metadata: z.strictObject({ labels: texts, annotations: texts.optional() }),
  spec: podSpec,
});
const selectorLabels = z.strictObject({ matchLabels: texts });
const head = <const K extends string, const V extends string>(apiVersion: V, kind: K) => ({
  apiVersion: z.literal(apiVersion),
  kind: z.literal(kind),
  metadata,
});

const deployment = z.strictObject({
  ...head('apps/v1', 'Deployment'),
  spec: z.strictObject({
    replicas: count.optional(),
    minReadySeconds: count.optional(),
    revisionHistoryLimit: count.optional(),
    strategy: z
      .strictObject({
        type: z.enum(['RollingUpdate', 'Recreate']),
        rollingUpdate: z.strictObject({ maxSurge: count, maxUnavailable: count }).optional(),
      })
      .optional(),
    selector: selectorLabels,
    template,
  }),
});

const statefulSet = z.strictObject({
  ...head('apps/v1', 'StatefulSet'),
  spec: z.strictObject({
    replicas: count.optional(),
    serviceName: name,
    selector: selectorLabels,
    template,
    volumeClaimTemplates: z
      .array(
        z.strictObject({
          metadata,
          spec: z.strictObject({
            accessModes: z.array(z.string()).min(1),
            storageClassName: z.string().optional(),
            resources: z.strictObject({ requests: z.strictObject({ storage: quantity }) }),
          }),
        }),
      )
      .optional(),
  }),
});

const service = z.strictObject({
  ...head('v1', 'Service'),
  spec: z.strictObject({
    type: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']).optional(),
    clusterIP: z.string().optional(),
    sessionAffinity: z.enum(['None', 'ClientIP']).optional(),
    selector: texts,
    ports: z.array(z.strictObject({ name, port: portNumber, targetPort: portReference })).min(1),
  }),
});

const ingress = z.strictObject({
  ...head('networking.k8s.io/v1', 'Ingress'),
  spec: z.strictObject({
    ingressClassName: name,
    tls: z.array(z.strictObject({ hosts: z.array(z.string()).min(1), secretName: name })).min(1),
    rules: z
      .array(
        z.strictObject({
          host: z.string(),
          http: z.strictObject({
            paths: z.array(
              z.strictObject({
                path: z.string().startsWith('/'),
                pathType: z.enum(['Prefix', 'Exact', 'ImplementationSpecific']),
                backend: z.strictObject({
                  service: z.strictObject({
                    name,
                    port: z.strictObject({ name: name.optional(), number: portNumber.optional() }),
                  }),
                }),
              }),
            ),
          }),
        }),
      )
      .min(1),
  }),
});

const scalingRules = z.strictObject({
  stabilizationWindowSeconds: count,
  policies: z
    .array(
      z.strictObject({
        type: z.enum(['Pods', 'Percent']),
        value: z.int().min(1),
        periodSeconds: z.int().min(1),
      }),
    )
    .min(1),
});

const autoscaler = z.strictObject({
  ...head('autoscaling/v2', 'HorizontalPodAutoscaler'),
  spec: z.strictObject({
    scaleTargetRef: z.strictObject({
      apiVersion: z.literal('apps/v1'),
      kind: z.literal('Deployment'),
      name,
    }),
    minReplicas: z.int().min(1),
    maxReplicas: z.int().min(1),
    metrics: z
      .array(
        z.strictObject({
          type: z.literal('Resource'),
          resource: z.strictObject({
            name: z.enum(['cpu', 'memory']),
            target: z.strictObject({
              type: z.enum(['Utilization', 'AverageValue']),
              averageUtilization: z.int().min(1).max(100).optional(),
              averageValue: quantity.optional(),
            }),
          }),
        }),
      )
      .min(1),
    behavior: z
      .strictObject({ scaleUp: scalingRules.optional(), scaleDown: scalingRules.optional() })
      .optional(),
  }),
});

const disruptionBudget = z.strictObject({
  ...head('policy/v1', 'PodDisruptionBudget'),
  spec: z.strictObject({
    maxUnavailable: z.union([count, z.string().regex(/^\d+%$/)]).optional(),
    minAvailable: z.union([count, z.string().regex(/^\d+%$/)]).optional(),
    selector,
  }),
});

const peers = z.array(
  z.strictObject({
    podSelector: selector.optional(),
    namespaceSelector: selector.optional(),
    ipBlock: z.strictObject({ cidr: z.cidrv4(), except: z.array(z.cidrv4()).optional() }).optional(),
  }),
);
const policyPorts = z.array(z.strictObject({ protocol: z.enum(['TCP', 'UDP']), port: portReference })).min(1);

const networkPolicy = z.strictObject({
  ...head('networking.k8s.io/v1', 'NetworkPolicy'),
  spec: z.strictObject({
    podSelector: selector,
    policyTypes: z.array(z.enum(['Ingress', 'Egress'])).min(1),
    ingress: z.array(z.strictObject({ from: peers.min(1), ports: policyPorts })).optional(),
    egress: z.array(z.strictObject({ to: peers.min(1), ports: policyPorts })).optional(),
  }),
});

/** Every kind of object that Parley's manifests contain, with the fields they use. */
export const manifest = z.discriminatedUnion('kind', [
  deployment,
  statefulSet,
  service,
  ingress,
  autoscaler,
  disruptionBudget,
  networkPolicy,
  z.strictObject(head('v1', 'Namespace')),
  z.strictObject({ ...head('v1', 'ServiceAccount'), automountServiceAccountToken: z.boolean().optional() }),
  z.strictObject({ ...head('v1', 'ConfigMap'), data: texts }),
  z.strictObject({ ...head('v1', 'Secret'), type: z.literal('Opaque'), stringData: texts }),
]);

/** The file that says which manifests are applied together. */
export const kustomization = z.strictObject({
  apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
  kind: z.literal('Kustomization'),
  namespace: name.optional(),
  resources: z.array(z.string()).optional(),
  configMapGenerator: z.array(z.strictObject({ name, files: z.array(z.string()).min(1) })).optional(),
  images: z.array(z.strictObject({ name: z.string(), newName: z.string(), newTag: z.string() })).optional(),
});

export type Manifest = z.infer<typeof manifest>;
export type Kustomization = z.infer<typeof kustomization>;
export type Workload = z.infer<typeof deployment> | z.infer<typeof statefulSet>;
