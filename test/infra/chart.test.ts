import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { writeChart } from '../../infra/chart/chart.ts';
import { templateOf } from '../../infra/chart/templates.ts';
import { policyProblems } from '../../infra/check/kubernetes-policy.ts';
import { type Manifest, readManifests } from '../../infra/check/manifests.ts';
import { findHelm, type Helm } from '../harness/helm/helm.ts';
import { suiteNotRun } from '../harness/not-run.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const nameOf = ({ kind, metadata }: Manifest) => `${kind}/${metadata.name}`;
const helm = await findHelm((text) => console.info(text)).catch((error: unknown) => String(error));

it('a manifest that lacks what a value sets makes no chart', () => {
  expect(() => templateOf('worker.yaml', 'kind: Deployment\n')).toThrow(
    'worker.yaml lacks: image: parley-worker',
  );
});

if (typeof helm === 'string') suiteNotRun('the chart, as Helm renders it', helm);
else renders(helm);

function renders(program: Helm): void {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-chart-'));
    writeChart(ROOT, join(folder, 'parley'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function render(values: object = {}): Promise<ReadonlyMap<string, Manifest>> {
    const file = join(folder, 'values.json');
    await writeFile(file, JSON.stringify(values));
    const { stdout } = await program(
      'template',
      'parley',
      join(folder, 'parley'),
      '-n',
      'parley',
      '-f',
      file,
    );
    const objects = parseAllDocuments(stdout).flatMap((one) => {
      const value = one.toJS() as Manifest | null;
      return value === null ? [] : [value];
    });
    return new Map(objects.map((object) => [nameOf(object), object]));
  }

  it('gives by default what the kustomization gives', async () => {
    const rendered = await render();
    const { objects } = readManifests(ROOT);
    const expected = new Map(objects.map((object) => [nameOf(object), object]));
    expected.delete('Namespace/parley');
    const { data } = rendered.get('ConfigMap/parley-redis-files') as Manifest & { data: object };
    expect(Object.keys(data).sort()).toEqual(['redis.conf', 'start.sh', 'users.acl']);
    const comparable = [...rendered].filter(([name]) => name !== 'ConfigMap/parley-redis-files');
    expect(new Map(comparable.map(([name, object]) => [name, plain(object)]))).toEqual(
      new Map([...expected].map(([name, object]) => [name, plain(object)])),
    );
    expect(policyProblems(objects)).toEqual([]);
    const namespace = objects.filter(({ kind }) => kind === 'Namespace');
    expect(policyProblems([...namespace, ...rendered.values()])).toEqual([]);
    expect((await program('lint', '--strict', join(folder, 'parley'))).stdout).toContain('0 chart(s) failed');
  });

  it('takes values for what differs among installations', async () => {
    const egress = { to: [{ ipBlock: { cidr: '10.1.0.0/16' } }], ports: [{ protocol: 'TCP', port: 6379 }] };
    const rendered = await render({
      api: { minReplicas: 4, turnsPerPod: 20 },
      redis: { enabled: false },
      ingress: { enabled: false },
      networkPolicy: { egress: [egress] },
      agentsConfigMap: 'my-agents',
      config: { REDIS_URL: 'rediss://redis.example.com:6379' },
    });
    const kinds = [...rendered.keys()];
    expect(kinds.filter((name) => /Ingress\/|StatefulSet|redis-files/.test(name))).toEqual([]);
    expect(rendered.get('HorizontalPodAutoscaler/parley-api')).toMatchObject({
      spec: {
        minReplicas: 4,
        metrics: expect.arrayContaining([
          {
            type: 'Pods',
            pods: {
              metric: { name: 'parley_turns_running' },
              target: { type: 'AverageValue', averageValue: '20' },
            },
          },
        ]),
      },
    });
    expect(rendered.get('ConfigMap/parley-config')).toMatchObject({
      data: { NODE_ENV: 'production', REDIS_URL: 'rediss://redis.example.com:6379' },
    });
    expect(rendered.get('NetworkPolicy/services-to-internet')).toMatchObject({
      spec: { egress: expect.arrayContaining([egress]) },
    });
    expect(JSON.stringify(rendered.get('Deployment/parley-api'))).toContain(
      '{"name":"PARLEY_CONFIG","value":"/etc/parley/agents.yaml"}',
    );
    expect(JSON.stringify(rendered.get('Deployment/parley-api'))).toContain(
      '{"name":"agents","configMap":{"name":"my-agents"}}',
    );
  });

  it.each([
    ['a secret among the settings', { config: { PARLEY_API_KEYS: 'default:x' } }],
    ['an image without a version', { images: { api: 'parley-api' } }],
    ['a value that it does not know', { replicas: 3 }],
    ['a number where a setting is text', { config: { PARLEY_METRICS_PORT: 9464 } }],
  ])('refuses %s', async (_what, values) => {
    await expect(render(values)).rejects.toThrow("values don't meet the specifications");
  });
}

/** As the kustomization would apply it: it names the images, and the chart adds what restarts pods. */
function plain(object: Manifest): unknown {
  const text = JSON.stringify(object, (key, value: unknown) =>
    key === 'checksum/config' ? undefined : value,
  );
  return JSON.parse(text.replaceAll(/registry\.example\.com\/(?=parley-)/g, ''));
}
