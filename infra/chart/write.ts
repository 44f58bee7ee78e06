import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeChart } from './chart.ts';

/*
 * npm run chart
 *
 * Writes the Helm chart to dist/chart/parley, for `helm install` or `helm package`.
 */
const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'dist/chart/parley');
rmSync(folder, { recursive: true, force: true });
writeChart(root, folder);
