import { createRequire } from 'node:module';
import { compileLinear } from '@parley/core/domain/forms/linear-pattern';

/**
 * A rule over the arguments of a call. The result is also true if the rule cannot be evaluated or would take too long; then a
 * person decides.
 */
export type ArgumentRule = (args: Readonly<Record<string, unknown>>) => boolean;

type Cel = typeof import('@marcbachmann/cel-js');
interface Node {
  readonly op?: unknown;
  readonly args?: unknown;
}

/** The limit on one evaluation: visits of nodes, and characters that are compared with instructions of a pattern. */
const STEPS_MAX = 1_000_000;
/** Operations that evaluate their last argument for each element of a list or map. */
const LOOPS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
/** The language's own `matches` uses JavaScript's regular expressions, whose time may grow without bound. */
const MATCHES = 'matches';
const MATCHES_LINEAR = 'matchesLinear';

/**
 * Compiles a rule in the Common Expression Language over the variable `args`. Throws the reason if the rule is malformed or
 * cannot yield a truth value. The language is loaded with the first rule, because most configurations have none. The model
 * chooses the arguments, so each evaluation has a limit of steps.
 */
export function compileRule(text: string): ArgumentRule {
  const { Environment } = createRequire(import.meta.url)('@marcbachmann/cel-js') as Cel;
  let stepsLeft = 0;
  const rule = new Environment()
    .registerVariable('args', 'map')
    .registerFunction(`string.${MATCHES_LINEAR}(string): bool`, (value: string, pattern: string) => {
      const compiled = compileLinear(pattern);
      stepsLeft -= compiled.size * (value.length + 1);
      if (stepsLeft < 0) throw new Error('The rule takes too many steps.');
      return compiled.isIn(value);
    })
    .parse(text);
  const { nodes, depth, sums, hasSplit } = inspect(rule.ast);
  const checked = rule.check();
  if (!checked.valid) throw new Error(checked.error?.message ?? 'is not valid');
  if (checked.type !== 'bool' && checked.type !== 'dyn')
    throw new Error(`has the type ${String(checked.type)}, and must be true or false`);
  return (args) => {
    try {
      // A loop visits at most all values of the arguments, plus one such set for each added list, or the characters of a split
      // text.
      const visits = hasSplit ? JSON.stringify(args).length : countValues(args);
      stepsLeft = STEPS_MAX - nodes * (visits * (sums + 1)) ** depth;
      return stepsLeft < 0 || rule({ args }) !== false;
    } catch {
      return true;
    }
  };
}

interface RuleShape {
  readonly nodes: number;
  /** How deeply loops are nested. */
  readonly depth: number;
  /** The number of additions. Each may concatenate lists. */
  readonly sums: number;
  readonly hasSplit: boolean;
}

const NOTHING: RuleShape = { nodes: 0, depth: 0, sums: 0, hasSplit: false };

/** Reads the shape of an expression, and replaces `matches` by a version that takes linear time. */
function inspect(node: unknown): RuleShape {
  if (Array.isArray(node)) return node.map(inspect).reduce(together, NOTHING);
  const { op, args } = (node ?? {}) as Node;
  if (op === undefined) return NOTHING;
  const call = Array.isArray(args) && op === 'rcall' ? args : [];
  if (call[0] === MATCHES) call[0] = MATCHES_LINEAR;
  const [name, receiver, more] = call;
  const parts = name === undefined ? inspect(args) : together(inspect(receiver), loopOf(name, inspect(more)));
  return together(parts, { nodes: 1, depth: 0, sums: op === '+' ? 1 : 0, hasSplit: name === 'split' });
}

/** The receiver of a loop's call is evaluated once, before the loop. Only the arguments are evaluated in the loop. */
function loopOf(name: unknown, within: RuleShape): RuleShape {
  return LOOPS.has(String(name)) ? { ...within, depth: within.depth + 1 } : within;
}

function together(one: RuleShape, other: RuleShape): RuleShape {
  return {
    nodes: one.nodes + other.nodes,
    depth: Math.max(one.depth, other.depth),
    sums: one.sums + other.sums,
    hasSplit: one.hasSplit || other.hasSplit,
  };
}

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + countValues(inner), 1);
}
