import { html, type TemplateResult } from 'lit';
import { codeOf } from '../api/client.ts';
import type { AdminInstallation } from '../api/replies.ts';
import type { PageContext } from '../kit/at.ts';
import { emptyNote } from '../parts/notes.ts';
import { tableView } from '../parts/table.ts';
import { badge, factList, outside } from '../parts/texts.ts';
import { numberIn, shortDuration } from '../parts/times.ts';

type Server = AdminInstallation['servers'][number];

/** What runs; nothing where operators may not see it, and while a pod of an earlier build answers, which has no such call. */
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

/** The pods, the queues and Redis. */
export function installationView(
  at: PageContext,
  { pods, queues, canaryAgeSeconds, servers, deadLetters }: AdminInstallation,
): TemplateResult {
  const { words } = at;
  const states = { running: words.isAlive, orphaned: words.isLapsed };
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
              { title: words.state, cell: ({ isAlive }) => badge(isAlive ? 'running' : 'orphaned', states) },
            ],
          })
    }
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
