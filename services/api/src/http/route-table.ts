import type { PathParams, Route } from './route.ts';

/** The route of a request, with the parameters of its path. */
interface Match {
  readonly route: Route;
  readonly params: PathParams;
}

/** Routes by method and path. */
export interface RouteTable {
  /** The route that serves exactly this method and path, without its query. Decodes nothing. */
  find(method: string, path: string): Match | undefined;
  /** All routes of a path, with any method. */
  at(path: string): readonly Route[];
}

interface RouteNode {
  readonly fixed: Map<string, RouteNode>;
  /** The node for a segment that is a parameter. */
  any?: RouteNode;
  readonly routes: Map<string, { readonly route: Route; readonly names: readonly string[] }>;
}

// Segments that decoding would not change, and that every reader of a URL treats the same.
const PLAIN = /^[A-Za-z0-9._~!$&'()*+,;=:@-]+$/;

/** Builds the table. Fixed segments take precedence over parameters. Throws if two routes have the same method and path. */
export function createRouteTable(routes: readonly Route[]): RouteTable {
  const root = createNode();
  for (const route of routes) add(root, route);
  return {
    find(method, path) {
      const found = walk(root, path);
      const entry = found?.node.routes.get(method);
      if (found === undefined || entry === undefined) return undefined;
      const { route, names } = entry;
      const isPlain = route.rawParams === true || found.values.every((value) => PLAIN.test(value));
      if (!isPlain) return undefined;
      const params: Record<string, string> = {};
      for (const [index, name] of names.entries()) params[name] = found.values[index] ?? '';
      return { route, params };
    },
    at(path) {
      const found = walk(root, path);
      return found === undefined ? [] : [...found.node.routes.values()].map(({ route }) => route);
    },
  };
}

function createNode(): RouteNode {
  return { fixed: new Map(), routes: new Map() };
}

function add(root: RouteNode, route: Route): void {
  const names: string[] = [];
  let node = root;
  for (const segment of route.path.slice(1).split('/')) {
    const next = segment.startsWith(':')
      ? (node.any ?? createNode())
      : (node.fixed.get(segment) ?? createNode());
    if (segment.startsWith(':')) {
      names.push(segment.slice(1));
      node.any = next;
    } else {
      node.fixed.set(segment, next);
    }
    node = next;
  }
  if (node.routes.has(route.method)) throw new Error(`${route.method} ${route.path} is routed twice`);
  node.routes.set(route.method, { route, names });
}

function walk(
  root: RouteNode,
  path: string,
): { readonly node: RouteNode; readonly values: readonly string[] } | undefined {
  const values: string[] = [];
  let node = root;
  let start = 1;
  while (start <= path.length) {
    const slash = path.indexOf('/', start);
    const end = slash < 0 ? path.length : slash;
    const segment = path.slice(start, end);
    const fixed = node.fixed.get(segment);
    if (fixed !== undefined) node = fixed;
    else if (node.any !== undefined && segment !== '') {
      node = node.any;
      values.push(segment);
    } else return undefined;
    start = end + 1;
  }
  return { node, values };
}
