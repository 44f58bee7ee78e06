/** Draws the API reference as one HTML page. The facts come from `openapi.ts` and the routes. */

import type { Route, RouteDocs } from '../route.ts';
import type { OpenApi } from './openapi.ts';
import { SAMPLE_PARAMS } from './samples.ts';

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: unknown }>> };
  readonly responses?: Readonly<Record<string, { readonly description: string }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
}

/** One documented call. */
interface Call {
  readonly method: string;
  readonly path: string;
  readonly docs: RouteDocs;
  readonly operation: Operation;
}

/** The API on one readable page, without scripts and without requests to other hosts. */
export function docsPageOf(routes: readonly Route[], api: OpenApi): string {
  const calls = routes.flatMap((route) => callOf(route, api) ?? []);
  const groups = [...new Set(calls.map(({ docs }) => docs.group))].map(
    (group) => [group, calls.filter(({ docs }) => docs.group === group)] as const,
  );
  const components = (api.components as { schemas: Record<string, unknown> }).schemas;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley API</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Parley API</h1>
<p>Ask a person from an agent on one pod, take the answer on any pod, settle it exactly once.
Send <code>Authorization: Bearer …</code> with every call: a user's token, or a service key.
The same for programs: <a href="/openapi.json">openapi.json</a>.</p>
<nav aria-label="Calls">
${groups.map(([group, members]) => navigation(group, members)).join('\n')}
</nav>
${groups
  .map(
    ([group, members]) =>
      `<h2 id="group-${group.toLowerCase()}">${group}</h2>\n${members.map(sectionOf).join('\n')}`,
  )
  .join('\n')}
<h2 id="schemas">Schemas</h2>
${Object.entries(components)
  .map(
    ([id, schema]) =>
      `<details id="schema-${escapeHtml(id)}"><summary>${escapeHtml(id)}</summary>${code(schema)}</details>`,
  )
  .join('\n')}
</main>
</body>
</html>
`;
}

function callOf({ method, path, docs }: Route, api: OpenApi): Call | undefined {
  if (docs === undefined) return undefined;
  const operation = api.paths[openApiPath(path)]?.[method.toLowerCase()] as Operation;
  return { method, path, docs, operation };
}

function navigation(group: string, calls: readonly Call[]): string {
  const links = calls.map(
    ({ method, path, docs }) =>
      `<li><a href="#${anchor(method, path)}"><b>${method}</b> ${escapeHtml(openApiPath(path))}</a> ${escapeHtml(docs.summary)}</li>`,
  );
  return `<h2>${group}</h2>\n<ul>\n${links.join('\n')}\n</ul>`;
}

function sectionOf({ method, path, docs, operation }: Call): string {
  return `<section id="${anchor(method, path)}">
<h3><b>${method}</b> <code>${escapeHtml(openApiPath(path))}</code></h3>
<p><strong>${escapeHtml(docs.summary)}.</strong> ${prose(operation.description)}</p>
${parametersOf(operation.parameters ?? [])}
${bodyOf(operation)}
<h4>Request</h4>
${pre(requestOf(method, path, docs.example))}
<h4>Reply</h4>
${pre(textOf(docs.example.reply))}
<dl>${Object.entries(operation.responses ?? {})
    .map(([status, { description }]) => `<dt>${status}</dt><dd>${prose(description)}</dd>`)
    .join('')}</dl>
</section>`;
}

/** The call as a shell command. */
function requestOf(method: string, path: string, { query = '', body }: RouteDocs['example']): string {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => SAMPLE_PARAMS[name] ?? name);
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} "$PARLEY${filled}${query}"`,
    '-H "Authorization: Bearer $TOKEN"',
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d '${textOf(body)}'`]),
  ];
  return lines.join(' \\\n  ');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

function parametersOf(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return '';
  const items = parameters.map(
    ({ name, in: where, required, description }) =>
      `<li><code>${escapeHtml(name)}</code> (${where}${required ? ', required' : ''}) ${prose(description)}</li>`,
  );
  return `<ul>${items.join('')}</ul>`;
}

function bodyOf({ requestBody }: Operation): string {
  const schema = requestBody?.content['application/json']?.schema as { $ref?: string } | undefined;
  if (schema === undefined) return '';
  const id = schema.$ref?.split('/').at(-1);
  return id === undefined
    ? code(schema)
    : `<p>Body: <a href="#schema-${escapeHtml(id)}">${escapeHtml(id)}</a></p>`;
}

function code(value: unknown): string {
  return pre(JSON.stringify(value, null, 2));
}

// Long lines scroll, and scrolling must be possible by keyboard.
function pre(text: string): string {
  return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>`;
}

function openApiPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

/** Text whose parts between backticks are code. */
function prose(text = ''): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function anchor(method: string, path: string): string {
  return `${method.toLowerCase()}${path.replaceAll(/[^A-Za-z0-9]+/g, '-')}`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h2 { font-size: 1.3rem; margin: 3rem 0 .5rem; }
nav h2 { font-size: 1rem; margin: 1.25rem 0 .35rem; }
h3 { font-size: 1.05rem; margin: 2rem 0 .5rem; padding-top: 1rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
h4 { font-size: .875rem; margin: 1rem 0 .25rem; }
pre { margin: .25rem 0; max-height: 28rem; }
nav ul { list-style: none; margin: 0; padding: 0; display: grid; gap: .35rem; }
nav a { overflow-wrap: anywhere; }
code, pre { font: .875rem/1.5 ui-monospace, monospace; }
pre { background: var(--soft); padding: .75rem; overflow-x: auto; border-radius: .4rem; }
dl { display: grid; grid-template-columns: 3.5rem 1fr; gap: .25rem .75rem; }
dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
summary { cursor: pointer; padding: .35rem 0; }
`;
