/** One metric as an expression uses it, with the labels it is filtered by. */
export type MetricUse = { readonly metric: string; readonly labels: readonly string[] };

/** What an expression names: metrics, and the labels it groups or joins by. */
export type Names = { readonly uses: readonly MetricUse[]; readonly grouped: readonly string[] };

const grouping = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const words = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan']);

/**
 * Finds the metric and label names in a PromQL expression. It does not check the expression; promtool does. Ranges
 * (`[5m]`), functions, numbers, strings and Grafana variables are passed over.
 */
export function namesIn(expression: string): Names {
  const text = expression.replace(/\[[^\]]*\]/g, ' ').replace(/\$\w+/g, ' ');
  const token = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\{[^}]*\}|[a-zA-Z_:][\w:]*|\d[\w.]*|\S/g;
  const tokens = [...text.matchAll(token)].map((match) => match[0]);
  const uses: { metric: string; labels: string[] }[] = [];
  const grouped: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const word = tokens[at] ?? '';
    const next = tokens[at + 1];
    if (word.startsWith('{')) uses.at(-1)?.labels.push(...labelsIn(word));
    else if (!/^[a-zA-Z_:]/.test(word) || words.has(word.toLowerCase())) continue;
    else if (grouping.has(word)) {
      const end = next === '(' ? tokens.indexOf(')', at) : at;
      grouped.push(...tokens.slice(at + 2, end).filter((name) => name !== ','));
      at = end;
    } else if (next !== '(' && !(next !== undefined && grouping.has(next) && isAggregation(word))) {
      uses.push({ metric: word, labels: [] });
    }
  }
  return { uses, grouped };
}

function labelsIn(matchers: string): readonly string[] {
  const bare = matchers.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  return [...bare.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map((match) => match[1] ?? '');
}

function isAggregation(word: string): boolean {
  return /^(sum|min|max|avg|count|stddev|stdvar|topk|bottomk|quantile|group|count_values)$/.test(word);
}
