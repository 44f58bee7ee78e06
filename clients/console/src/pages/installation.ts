/**
 * The panel about pods, workers, queues and Redis, for operators who may see it. Judging what is wrong is the task of `parley
 * doctor`.
 */

import { html, type TemplateResult } from 'lit';
import { codeOf } from '../api/client.ts';
import type { AdminInstallation } from '../api/replies.ts';
import type { PageContext } from '../kit/at.ts';
import { emptyNote } from '../parts/notes.ts';
import { tableView } from '../parts/table.ts';
import { badge, factList, outside, outsideOr } from '../parts/texts.ts';
import { ago, numberIn, shortDuration } from '../parts/times.ts';

type Server = AdminInstallation['servers'][number];
type WorkerRow = AdminInstallation['workers'][number];

/**
 * Reads the state of the installation; undefined if the operator may not see it, or a pod of an earlier build answers, which
 * has no such call.
 */
export async function readInstallation(
  { api, session }: PageContext,
  signal: AbortSignal,
): Promise<AdminInstallation | undefined> {
  if (session.tenants.length > 1) return undefined;
  try {
    return await api.call('GET /v1/admin/installation', { signal });
  } catch (error) {
    if (['forbidden', 'not_found'].includes(codeOf(error))) return undefined;
    throw error;
  }
}

/** The pods, the workers, the queues and Redis. */
export function installationView(
  at: PageContext,
  { pods, workers, queues, canaryAgeSeconds, servers, deadLetters }: AdminInstallation,
): TemplateResult {
  const { words } = at;
  const number = (value: number) => numberIn(words.lang, value);
  const counts = Object.entries(words.queueCounts) as [keyof typeof words.queueCounts, string][];
  return html`<section class="panel" aria-labelledby="installation">
    <h2 id="installation">${words.installation}</h2>
    ${factList([
      [
        words.canary,
        canaryAgeSeconds === undefined
          ? words.canaryIsMissing
          : words.agoFor(shortDuration(canaryAgeSeconds * 1_000, words.lang)),
      ],
      ...servers.map((server) => ['Redis', serverText(at, server)] as const),
      [words.deadLetters, number(deadLetters)],
    ])}
    ${
      pods.length === 0
        ? emptyNote(words.noPods)
        : tableView({
            caption: words.pod,
            rows: pods,
            keyOf: ({ name }) => name,
            columns: [
              { title: words.pod, cell: ({ name }) => outside(name) },
              { title: words.state, cell: ({ isAlive }) => aliveBadge(at, isAlive) },
            ],
          })
    }
    ${workersView(at, workers)}
    ${tableView({
      caption: words.queue,
      rows: queues,
      keyOf: ({ name }) => name,
      columns: [
        { title: words.queue, cell: ({ name }) => outside(name) },
        ...counts.map(([key, title]) => ({
          title,
          isNumber: true,
          cell: (row: AdminInstallation['queues'][number]) => number(row[key]),
        })),
      ],
    })}
  </section>`;
}

function aliveBadge({ words }: PageContext, isAlive: boolean): TemplateResult {
  return badge(isAlive ? 'running' : 'orphaned', { running: words.isAlive, orphaned: words.isLapsed });
}

/** The workers by name. A pod of an earlier build does not report them. */
function workersView(at: PageContext, workers: readonly WorkerRow[] | undefined): TemplateResult {
  const { words, api } = at;
  const clock = { now: api.now(), lang: words.lang };
  if (workers === undefined || workers.length === 0) return emptyNote(words.noWorkers);
  return tableView({
    caption: words.worker,
    rows: workers,
    keyOf: ({ name, startedAt }) => `${name} ${startedAt}`,
    columns: [
      { title: words.worker, cell: ({ name }) => outside(name) },
      { title: words.state, cell: ({ isAlive }) => aliveBadge(at, isAlive) },
      { title: words.began, cell: ({ startedAt }) => ago(startedAt, clock) },
      { title: words.serves, cell: ({ queues }) => outside(queues.join(', ')) },
      { title: words.underWay, cell: ({ running }) => outsideOr(running.join(', ') || undefined) },
      { title: words.lastRound, cell: ({ rounds }) => lastRound(rounds, clock) },
    ],
  });
}

function lastRound(rounds: WorkerRow['rounds'], clock: Parameters<typeof ago>[1]): TemplateResult {
  const [last] = rounds.toSorted((a, b) => (a.at < b.at ? 1 : -1));
  return last === undefined ? outsideOr(undefined) : html`${outside(last.work)}, ${ago(last.at, clock)}`;
}

function serverText({ words }: PageContext, { role, version, usedMemoryBytes, maxMemoryBytes }: Server) {
  const megabytes = (bytes: number) => `${numberIn(words.lang, Math.round(bytes / 1_048_576))} MiB`;
  const used = usedMemoryBytes === undefined ? undefined : megabytes(usedMemoryBytes);
  const memory =
    used === undefined || maxMemoryBytes === undefined
      ? used
      : words.memoryOf(used, megabytes(maxMemoryBytes));
  const told = [role, version, memory].filter((part) => part !== undefined);
  return outside(told.length === 0 ? '–' : told.join(', '));
}
