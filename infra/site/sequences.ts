const SEQUENCE = /^```mermaid\nsequenceDiagram\n([\s\S]*?)^```$/gm;

/**
 * The page with each Mermaid sequence diagram converted to a table, because the program that draws diagrams is larger than the
 * whole site. The repository shows them as diagrams.
 */
export function withSequencesAsTables(page: string): string {
  return page.replaceAll(SEQUENCE, (_, diagram: string) => {
    const names = new Map<string, string>();
    const rows = diagram.split('\n').flatMap((line) => {
      const [, id, name] = /^\s*participant (\w+) as (.+)$/.exec(line) ?? [];
      if (id !== undefined && name !== undefined) names.set(id, name);
      const [, from = '', to = '', text] = /^\s*(\w+)-{1,2}>>(\w+): (.+)$/.exec(line) ?? [];
      if (text !== undefined) return [`| ${names.get(from)} | ${names.get(to)} | ${text} |`];
      const [, at = '', note] = /^\s*Note over (\w+): (.+)$/.exec(line) ?? [];
      return note === undefined ? [] : [`| ${names.get(at)} | – | ${note} |`];
    });
    return ['| from | to | what |', '|---|---|---|', ...rows].join('\n');
  });
}
