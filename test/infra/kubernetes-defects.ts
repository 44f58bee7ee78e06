import type { Planted } from './planted-tree.ts';

const api = 'infra/kubernetes/api.yaml';
const worker = 'infra/kubernetes/worker.yaml';
const network = 'infra/kubernetes/network.yaml';
const ingress = 'infra/kubernetes/ingress.yaml';
const disruption = 'infra/kubernetes/disruption.yaml';
const configmap = 'infra/kubernetes/configmap.yaml';
const kustomization = 'infra/kubernetes/kustomization.yaml';
const secrets = 'infra/kubernetes/secrets.template.yaml';

/** Defects in the Kubernetes files, by the check that must catch them. */
export const kubernetesDefects: Readonly<Record<string, readonly Planted[]>> = {
  'kubernetes schema': [
    ['a number in words', [worker, 'replicas: 2', 'replicas: "three"'], /spec\/replicas must be integer/],
    ['a misspelt field', [api, 'minReadySeconds', 'minReadySecond'], /unknown field \/spec\/minReadySecond/],
    [
      'a misspelt field deep inside',
      [api, 'readOnlyRootFilesystem', 'readOnlyRootFileSystem'],
      /unknown field \/spec\/template\/spec\/containers\/0\/securityContext\/readOnlyRootFileSystem/,
    ],
    [
      'a container without a name',
      [api, '- name: api\n          image', '- image'],
      /containers\/0 must have required property name/,
    ],
    ['a value outside its list', [ingress, 'pathType: Prefix', 'pathType: Beginning'], /pathType/],
    ['a bare number in a ConfigMap', [configmap, '"9464"', '9464'], /PARLEY_METRICS_PORT must be string/],
    ['an unquoted off', [ingress, '"off"', 'off'], /proxy-buffering must be string/],
    ['a duplicate key', [worker, '  replicas: 2', '  replicas: 2\n  replicas: 3'], /unique/i],
  ],
  'kubectl kustomize': [
    ['a file that is not there', [kustomization, '- network.yaml', '- networks.yaml'], /networks\.yaml/],
  ],
  'kubernetes kustomization': [
    [
      'a file that is not there',
      [kustomization, '- network.yaml', '- networks.yaml'],
      /networks\.yaml does not/,
    ],
    ['a file that is not applied', [kustomization, '  - network.yaml\n', ''], /network\.yaml is not applied/],
    [
      'placeholders applied',
      [kustomization, '  - network.yaml', '  - network.yaml\n  - secrets.template.yaml'],
      /secrets\.template\.yaml is applied/,
    ],
  ],
  'kubernetes policy': [
    ['root by number', [api, 'runAsUser: 1000', 'runAsUser: 0'], /runAsUser/],
    ['root allowed', [worker, 'runAsNonRoot: true', 'runAsNonRoot: false'], /runAsNonRoot/],
    [
      'a writable root',
      [api, 'readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false'],
      /readOnlyRootFilesystem/,
    ],
    ['capabilities', [worker, 'drop: [ALL]', 'drop: [NET_RAW]'], /capabilities/],
    ['the moving tag', [api, 'parley-api:0.1.0', 'parley-api:latest'], /not pinned/],
    ['service links', [api, 'enableServiceLinks: false', 'enableServiceLinks: true'], /enableServiceLinks/],
    ['a missing probe', [worker, 'readinessProbe:', 'unusedProbe:'], /readinessProbe/],
    ['no memory limit', [worker, 'memory: 512Mi', 'cpu: "1"'], /limits\.memory/],
    ['readiness that asks for life', [api, 'path: /readyz', 'path: /healthz'], /readinessProbe/],
    ['too little grace', [worker, 'GracePeriodSeconds: 30', 'GracePeriodSeconds: 5'], /GracePeriodSeconds/],
    ['a sticky Service', [api, 'sessionAffinity: None', 'sessionAffinity: ClientIP'], /sessionAffinity/],
    [
      'a sticky Ingress',
      [ingress, '  annotations:\n', '  annotations:\n    nginx.ingress.kubernetes.io/affinity: cookie\n'],
      /session affinity/,
    ],
    ['a buffering Ingress', [ingress, '"off"', '"on"'], /proxy-buffering/],
    ['a POST sent twice', [ingress, 'error timeout', 'error timeout non_idempotent'], /next-upstream/],
    ['a port that is not open', [api, 'targetPort: http', 'targetPort: web'], /port web .* not open/],
    ['replicas under an autoscaler', [api, '  minReadySeconds: 5', '  replicas: 3'], /fixes replicas/],
    [
      'a budget that forbids every drain',
      [disruption, 'maxUnavailable: 1', 'maxUnavailable: 0'],
      /maxUnavailable/,
    ],
    ['a budget that allows all', [disruption, 'maxUnavailable: 1', 'minAvailable: 0'], /maxUnavailable/],
    [
      'a password in a ConfigMap',
      [configmap, '\ndata:\n', '\ndata:\n  PARLEY_REDIS_PASSWORD: hunter2\n'],
      /PARLEY_REDIS_PASSWORD/,
    ],
    [
      'connect pages on a host without an Ingress',
      [configmap, 'https://parley.example.com', 'https://auth.example.com'],
      /no Ingress has the host/,
    ],
    [
      'no default policy',
      [network, 'podSelector: {}', 'podSelector: { matchLabels: { a: b } }'],
      /denies everything/,
    ],
    ['Redis closed', [network, 'port: 6379', 'port: 6380'], /6379/],
    ['the metadata service', [network, '169.254.0.0/16, ', ''], /metadata/],
  ],
  'kubernetes secrets template': [
    ['a real secret', [secrets, 'PARLEY_JWT_SECRET: REPLACE_ME', 'PARLEY_JWT_SECRET: kqL1'], /holds a value/],
  ],
  'settings in Kubernetes': [
    [
      'a setting that no code reads',
      [configmap, 'PARLEY_LOG_LEVEL', 'LOG_LEVEL'],
      /reads no variable LOG_LEVEL/,
    ],
    ['a setting that is wrong', [configmap, 'redis://', 'tcp://'], /REDIS_URL/],
    [
      'pages that cannot sign people in',
      [configmap, '  PARLEY_CONNECT_OIDC_CLIENT_ID: parley-pages\n', ''],
      /PARLEY_CONNECT_OIDC_CLIENT_ID: is required/,
    ],
    [
      'a missing ConfigMap',
      [worker, 'name: parley-config', 'name: parley-conf'],
      /parley-conf does not exist/,
    ],
    ['a missing Secret', [worker, 'name: parley-redis-users', 'name: parley-redis-user'], /does not exist/],
  ],
};
