/** A replacement that turns a manifest into a template. The manifest must contain the replaced text. */
type Change = readonly [from: string, to: string];

const CONFIG =
  /(kind: ConfigMap\nmetadata:\n {2}name: parley-(config|connect)\n[\s\S]*?\ndata:\n)(?: {2}.*\n)+/g;
const IMAGE = 'image: parley-';

const AGENTS_ENV = `            {{- if .Values.agentsConfigMap }}
            - name: PARLEY_CONFIG
              value: /etc/parley/agents.yaml
            {{- end }}
`;
const AGENTS_MOUNT = `            {{- if .Values.agentsConfigMap }}
            - name: agents
              mountPath: /etc/parley
              readOnly: true
            {{- end }}
`;
const AGENTS_VOLUME = `        {{- if .Values.agentsConfigMap }}
        - name: agents
          configMap:
            name: {{ .Values.agentsConfigMap }}
        {{- end }}
`;
const TURNS_METRIC = `    {{- if .Values.api.turnsPerPod }}
    - type: Pods
      pods:
        metric:
          name: parley_turns_running
        target:
          type: AverageValue
          averageValue: {{ .Values.api.turnsPerPod | quote }}
    {{- end }}
`;
// A changed ConfigMap of the release restarts the pods that read it.
const CHECKSUM = `      annotations:
        checksum/config: {{ toJson (list .Values.config .Values.connect) | sha256sum }}
`;
const EGRESS = `    {{- with .Values.networkPolicy.egress }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
`;

/** The replacements for each manifest, by its file. A file without replacements is already a template. */
const CHANGES: Readonly<Record<string, readonly Change[]>> = {
  'api.yaml': [
    [`${IMAGE}api:0.1.0`, 'image: {{ .Values.images.api }}'],
    ['              value: parley-api\n', `              value: parley-api\n${AGENTS_ENV}`],
    ['              mountPath: /tmp\n', `              mountPath: /tmp\n${AGENTS_MOUNT}`],
    ['            sizeLimit: 64Mi\n', `            sizeLimit: 64Mi\n${AGENTS_VOLUME}`],
    ['      annotations:\n', CHECKSUM],
  ],
  'worker.yaml': [
    [`${IMAGE}worker:0.1.0`, 'image: {{ .Values.images.worker }}'],
    ['  replicas: 2\n', '  replicas: {{ .Values.worker.replicas }}\n'],
    ['      annotations:\n', CHECKSUM],
  ],
  'autoscaling.yaml': [
    ['minReplicas: 3', 'minReplicas: {{ .Values.api.minReplicas }}'],
    ['maxReplicas: 12', 'maxReplicas: {{ .Values.api.maxReplicas }}'],
    ['  behavior:\n', `${TURNS_METRIC}  behavior:\n`],
  ],
  'ingress.yaml': [
    ['ingressClassName: nginx', 'ingressClassName: {{ .Values.ingress.className }}'],
    ['hosts: [parley.example.com]', 'hosts: [{{ .Values.ingress.host | quote }}]'],
    ['host: parley.example.com\n', 'host: {{ .Values.ingress.host }}\n'],
    ['secretName: parley-tls', 'secretName: {{ .Values.ingress.tlsSecret }}'],
  ],
  'network.yaml': [
    [': ingress-nginx\n', ': {{ .Values.networkPolicy.ingressNamespace }}\n'],
    [': monitoring\n', ': {{ .Values.networkPolicy.monitoringNamespace }}\n'],
    ['          port: 443\n', `          port: 443\n${EGRESS}`],
  ],
};

/** A file renders nothing unless this value is set. */
const CONDITIONS: Readonly<Record<string, string>> = {
  'ingress.yaml': 'ingress.enabled',
  'redis.yaml': 'redis.enabled',
  'network.yaml': 'networkPolicy.enabled',
};

/** Turns a manifest into a template of the chart. Throws if the manifest lacks a text that a value should replace. */
export function templateOf(file: string, manifest: string): string {
  let template = manifest.replaceAll(
    CONFIG,
    (_all, head: string, name: string) => `${head}  {{- toYaml .Values.${name} | nindent 2 }}\n`,
  );
  for (const [from, to] of CHANGES[file] ?? []) {
    if (!template.includes(from)) throw new Error(`${file} lacks: ${from.trim()}`);
    template = template.replaceAll(from, () => to);
  }
  const condition = CONDITIONS[file];
  return condition === undefined ? template : `{{- if .Values.${condition} }}\n${template}{{- end }}\n`;
}
