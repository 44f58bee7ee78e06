/** What one check found. `not run` is neither good nor bad: the machine lacks what the check needs. */
export type Verdict =
  | { readonly status: 'ok' }
  | { readonly status: 'fail'; readonly problems: readonly string[] }
  | { readonly status: 'not run'; readonly why: string };

/** One named check of the tree under `root`. It reads and reports; it never changes the tree. */
export type Check = {
  readonly name: string;
  readonly run: (root: string) => Verdict | Promise<Verdict>;
};

/** `ok` without problems, else `fail`; the same problem said twice counts once. */
export function judge(problems: readonly string[]): Verdict {
  return problems.length === 0 ? { status: 'ok' } : { status: 'fail', problems: [...new Set(problems)] };
}

/** The machine cannot run this check, and why. */
export function notRun(why: string): Verdict {
  return { status: 'not run', why };
}
