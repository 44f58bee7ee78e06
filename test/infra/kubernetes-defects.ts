import type { Planted } from './planted-tree.ts';

const api = 'infra/kubernetes/api.yaml';
const worker = 'infra/kubernetes/worker.yaml';
const network = 'infra/kubernetes/network.yaml';
const ingress = 'infra/kubernetes/ingress.yaml';
const disruption = 'infra/kubernetes/disruption.yaml';
const secrets = 'infra/kubernetes/secrets.template.yaml';

/** Defects in the Kubernetes files, by the check that must catch them. */
export const kubernetesDefects: Readonly<Record<string, readonly Planted[]>> = {
  'kubernetes manifests parse and fit their kinds': [
    ['a number in words', [worker, 'replicas: 2', 'replicas: "three"'], /spec\.replicas/],
    ['a misspelt field', [api, 'minReadySeconds', 'minReadySecond'], /minReadySecond/],
    ['a container without a name', [api, '- name: api\n          image', '- image'], /containers\.0\.name/],
    [
      'a bare number in a ConfigMap',
      ['infra/kubernetes/configmap.yaml', '"9464"', '9464'],
      /PARLEY_METRICS_PORT/,
    ],
    ['an unquoted off', [ingress, '"off"', 'off'], /proxy-buffering/],
    ['a key said twice', [worker, '  replicas: 2', '  replicas: 2\n  replicas: 3'], /unique/i],
  ],
  'kubernetes kustomization lists every manifest': [
    [
      'a file nobody applies',
      ['infra/kubernetes/kustomization.yaml', '  - network.yaml\n', ''],
      /network\.yaml/,
    ],
  ],
  'kubernetes pods are unprivileged, bounded, probed and pinned': [
    ['root by number', [api, 'runAsUser: 1000', 'runAsUser: 0'], /runs as root/],
    ['root allowed', [worker, 'runAsNonRoot: true', 'runAsNonRoot: false'], /runAsNonRoot/],
    [
      'a writable root',
      [api, 'readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false'],
      /write to its image/,
    ],
    ['capabilities', [worker, 'drop: [ALL]', 'drop: [NET_RAW]'], /capabilities/],
    ['the moving tag', [api, 'parley-api:0.1.0', 'parley-api:latest'], /not pinned/],
    ['service links', [api, 'enableServiceLinks: false', 'enableServiceLinks: true'], /enableServiceLinks/],
    ['a probe on a closed port', [worker, 'port: metrics', 'port: http'], /does not open/],
    [
      'a probe too few',
      [
        worker,
        'readinessProbe:\n            httpGet:\n              path: /readyz\n              port: metrics\n            periodSeconds: 5\n            timeoutSeconds: 2\n            failureThreshold: 2\n          lifecycle:',
        'lifecycle:',
      ],
      /has no readinessProbe/,
    ],
  ],
  'kubernetes services drain and answer the agreed probes': [
    ['readiness that asks for life', [api, 'path: /readyz', 'path: /healthz'], /readinessProbe/],
    ['too little grace', [worker, 'GracePeriodSeconds: 30', 'GracePeriodSeconds: 5'], /grace/],
  ],
  'kubernetes selectors, ports, affinity, scaling and disruption': [
    ['sticky service', [api, 'sessionAffinity: None', 'sessionAffinity: ClientIP'], /affinity/],
    [
      'sticky ingress',
      [ingress, '  annotations:\n', '  annotations:\n    nginx.ingress.kubernetes.io/affinity: cookie\n'],
      /affinity/,
    ],
    ['a buffering ingress', [ingress, '"off"', '"on"'], /buffers/],
    ['a POST sent twice', [ingress, 'error timeout', 'error timeout non_idempotent'], /twice/],
    ['a port that is not there', [api, 'targetPort: http', 'targetPort: web'], /not open/],
    [
      'pods under another name',
      [worker, 'name: parley-worker\n  template', 'name: parley-work\n  template'],
      /selector/,
    ],
    ['replicas under an autoscaler', [api, '  minReadySeconds: 5', '  replicas: 3'], /fixes replicas/],
    [
      'a budget that forbids every drain',
      [disruption, 'maxUnavailable: 1', 'maxUnavailable: 0'],
      /at once, or none/,
    ],
    ['a budget that allows all', [disruption, 'maxUnavailable: 1', 'minAvailable: 0'], /at once, or none/],
    [
      'configuration that is not there',
      [worker, 'name: parley-config', 'name: parley-conf'],
      /does not exist/,
    ],
    [
      'a password in the open',
      ['infra/kubernetes/configmap.yaml', '\ndata:\n', '\ndata:\n  PARLEY_REDIS_PASSWORD: hunter2\n'],
      /belongs into a Secret/,
    ],
    [
      'connect pages that nobody leads to',
      ['infra/kubernetes/configmap.yaml', 'https://parley.example.com', 'https://auth.example.com'],
      /no Ingress leads \/auth/,
    ],
  ],
  'kubernetes network policies': [
    [
      'no default',
      [network, 'podSelector: {}', 'podSelector: { matchLabels: { a: b } }'],
      /denies everything/,
    ],
    ['Redis shut', [network, 'port: 6379', 'port: 6380'], /Redis/],
    ['the metadata service', [network, '169.254.0.0/16, ', ''], /metadata/],
  ],
  'kubernetes secrets template': [
    ['a real secret', [secrets, 'PARLEY_JWT_SECRET: REPLACE_ME', 'PARLEY_JWT_SECRET: kqL1'], /holds a value/],
    ['a secret nobody has', [worker, 'name: parley-redis-users', 'name: parley-redis-user'], /does not have/],
    [
      'placeholders applied',
      [
        'infra/kubernetes/kustomization.yaml',
        '  - network.yaml',
        '  - network.yaml\n  - secrets.template.yaml',
      ],
      /applies a Secret/,
    ],
  ],
  'settings in Kubernetes start Parley': [
    [
      'a setting nobody reads',
      ['infra/kubernetes/configmap.yaml', 'PARLEY_LOG_LEVEL', 'LOG_LEVEL'],
      /reads no variable/,
    ],
    ['a setting that is wrong', ['infra/kubernetes/configmap.yaml', 'redis://', 'tcp://'], /REDIS_URL/],
    [
      'pages that nobody can know a person on',
      ['infra/kubernetes/configmap.yaml', '  PARLEY_CONNECT_OIDC_CLIENT_ID: parley-pages\n', ''],
      /PARLEY_CONNECT_OIDC_CLIENT_ID: is required/,
    ],
  ],
};
