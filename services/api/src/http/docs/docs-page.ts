import type { OpenApi } from './openapi.ts';

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

/** The API on one readable page: no script, no request to anywhere else. */
export function docsPageOf(api: OpenApi): string {
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method,
      operation: operation as Operation,
    })),
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
The same in a machine's words: <a href="/openapi.json">openapi.json</a>.</p>
<nav aria-label="Calls"><ul>
${operations.map(({ path, method }) => `<li><a href="#${anchor(method, path)}"><b>${method.toUpperCase()}</b> ${escapeHtml(path)}</a></li>`).join('\n')}
</ul></nav>
${operations.map(({ path, method, operation }) => sectionOf(path, method, operation)).join('\n')}
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

function sectionOf(path: string, method: string, operation: Operation): string {
  return `<section id="${anchor(method, path)}">
<h2><b>${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code></h2>
<p><strong>${escapeHtml(operation.summary ?? '')}.</strong> ${escapeHtml(operation.description ?? '')}</p>
${parametersOf(operation.parameters ?? [])}
${bodyOf(operation)}
<dl>${Object.entries(operation.responses ?? {})
    .map(([status, { description }]) => `<dt>${status}</dt><dd>${escapeHtml(description)}</dd>`)
    .join('')}</dl>
</section>`;
}

function parametersOf(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return '';
  const items = parameters.map(
    ({ name, in: where, required, description }) =>
      `<li><code>${escapeHtml(name)}</code> (${where}${required ? ', required' : ''}) ${escapeHtml(description ?? '')}</li>`,
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
  return `<pre tabindex="0"><code>${escapeHtml(JSON.stringify(value, null, 2))}</code></pre>`;
}

function anchor(method: string, path: string): string {
  return `${method}${path.replaceAll(/[^A-Za-z0-9]+/g, '-')}`;
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
h2 { font-size: 1.05rem; margin: 2.5rem 0 .5rem; padding-top: 1rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
nav ul { list-style: none; padding: 0; display: grid; gap: .35rem; }
nav a { overflow-wrap: anywhere; }
code, pre { font: .875rem/1.5 ui-monospace, monospace; }
pre { background: var(--soft); padding: .75rem; overflow-x: auto; border-radius: .4rem; }
dl { display: grid; grid-template-columns: 3.5rem 1fr; gap: .25rem .75rem; }
dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
summary { cursor: pointer; padding: .35rem 0; }
`;
