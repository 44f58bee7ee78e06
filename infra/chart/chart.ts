import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { directory, manifestFiles } from '../check/manifests.ts';
import { templateOf } from './templates.ts';

const REDIS_FILES = ['redis.conf', 'users.acl', 'start.sh'];
const REDIS_TEMPLATE = `{{- if .Values.redis.enabled }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: parley-redis-files
data:
  {{- (.Files.Glob "files/*").AsConfig | nindent 2 }}
{{- end }}
`;

/**
 * Writes the Helm chart to a folder. Its templates are made from the manifests in infra/kubernetes, so that the two cannot
 * differ. The namespace is omitted, because Helm creates it.
 */
export function writeChart(root: string, folder: string): void {
  for (const part of ['templates', 'files']) mkdirSync(join(folder, part), { recursive: true });
  for (const name of ['Chart.yaml', 'values.yaml', 'values.schema.json'])
    cpSync(join(root, 'infra/chart', name), join(folder, name));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  for (const name of REDIS_FILES) cpSync(join(root, 'infra/redis', name), join(folder, 'files', name));
  writeFileSync(join(folder, 'templates/redis-files.yaml'), REDIS_TEMPLATE);
  for (const file of manifestFiles(root).filter((name) => name !== 'namespace.yaml')) {
    const manifest = readFileSync(join(root, directory, file), 'utf8');
    writeFileSync(join(folder, 'templates', file), templateOf(file, manifest));
  }
}
