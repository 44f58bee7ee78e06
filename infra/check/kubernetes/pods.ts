import { z } from 'zod';

// Only the fields that the manifests use, and all of them strict: a misspelt field is a fault here, while a cluster
// would drop it in silence or refuse it at the worst moment.

/** A Kubernetes object name. */
export const name = z.string().regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/, 'not a Kubernetes name');
/** Labels, annotations, configuration: text to text. A bare number is a fault. */
export const texts = z.record(z.string(), z.string());
/** An amount of CPU, memory or storage. */
export const quantity = z.union([
  z.string().regex(/^\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/, 'not a quantity'),
  z.int(),
]);
/** A number of things, zero allowed. */
export const count = z.int().min(0);
/** A TCP or UDP port. */
export const portNumber = z.int().min(1).max(65_535);
/** A port by number or by the name that a container gives it. */
export const portReference = z.union([portNumber, z.string().regex(/^[a-z]([-a-z0-9]{0,13}[a-z0-9])?$/)]);

/** What every object carries. */
export const metadata = z.strictObject({
  name,
  namespace: name.optional(),
  labels: texts.optional(),
  annotations: texts.optional(),
});

/** Which pods are meant. */
export const selector = z.strictObject({
  matchLabels: texts.optional(),
  matchExpressions: z
    .array(
      z.strictObject({
        key: z.string(),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string()).optional(),
      }),
    )
    .optional(),
});

const probe = z
  .strictObject({
    httpGet: z.strictObject({ path: z.string().startsWith('/'), port: portReference }).optional(),
    exec: z.strictObject({ command: z.array(z.string()).min(1) }).optional(),
    tcpSocket: z.strictObject({ port: portReference }).optional(),
    initialDelaySeconds: count.optional(),
    periodSeconds: z.int().min(1).optional(),
    timeoutSeconds: z.int().min(1).optional(),
    failureThreshold: z.int().min(1).optional(),
    successThreshold: z.int().min(1).optional(),
  })
  .refine((value) => [value.httpGet, value.exec, value.tcpSocket].filter(Boolean).length === 1, {
    message: 'a probe has exactly one of httpGet, exec, tcpSocket',
  });

const container = z.strictObject({
  name,
  image: z.string().min(1),
  imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).optional(),
  command: z.array(z.string()).optional(),
  args: z.array(z.string()).optional(),
  ports: z
    .array(z.strictObject({ name, containerPort: portNumber, protocol: z.enum(['TCP', 'UDP']).optional() }))
    .optional(),
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })).optional(),
  envFrom: z
    .array(
      z.strictObject({
        configMapRef: z.strictObject({ name }).optional(),
        secretRef: z.strictObject({ name, optional: z.boolean().optional() }).optional(),
      }),
    )
    .optional(),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  lifecycle: z
    .strictObject({ preStop: z.strictObject({ exec: z.strictObject({ command: z.array(z.string()) }) }) })
    .optional(),
  resources: z
    .strictObject({
      requests: z.record(z.string(), quantity).optional(),
      limits: z.record(z.string(), quantity).optional(),
    })
    .optional(),
  securityContext: z
    .strictObject({
      allowPrivilegeEscalation: z.boolean().optional(),
      privileged: z.boolean().optional(),
      readOnlyRootFilesystem: z.boolean().optional(),
      runAsUser: count.optional(),
      runAsNonRoot: z.boolean().optional(),
      capabilities: z
        .strictObject({ drop: z.array(z.string()).optional(), add: z.array(z.string()).optional() })
        .optional(),
    })
    .optional(),
  volumeMounts: z
    .array(z.strictObject({ name, mountPath: z.string().startsWith('/'), readOnly: z.boolean().optional() }))
    .optional(),
});

/** How pods of one workload run. */
export const podSpec = z.strictObject({
  serviceAccountName: name.optional(),
  automountServiceAccountToken: z.boolean().optional(),
  enableServiceLinks: z.boolean().optional(),
  terminationGracePeriodSeconds: count.optional(),
  securityContext: z
    .strictObject({
      runAsNonRoot: z.boolean().optional(),
      runAsUser: count.optional(),
      runAsGroup: count.optional(),
      fsGroup: count.optional(),
      seccompProfile: z.strictObject({ type: z.string() }).optional(),
    })
    .optional(),
  topologySpreadConstraints: z
    .array(
      z.strictObject({
        maxSkew: z.int().min(1),
        topologyKey: z.string(),
        whenUnsatisfiable: z.enum(['DoNotSchedule', 'ScheduleAnyway']),
        labelSelector: selector,
      }),
    )
    .optional(),
  containers: z.array(container).min(1),
  volumes: z
    .array(
      z.strictObject({
        name,
        emptyDir: z
          .strictObject({ medium: z.literal('Memory').optional(), sizeLimit: quantity.optional() })
          .optional(),
        configMap: z.strictObject({ name }).optional(),
      }),
    )
    .optional(),
});

export type Selector = z.infer<typeof selector>;
export type PodSpec = z.infer<typeof podSpec>;
export type Container = z.infer<typeof container>;
