/** The result of one check. `not run`: a program is missing. `available`: a Debian or npm package contains it. */
export type Verdict =
  | { readonly status: 'ok' }
  | { readonly status: 'fail'; readonly problems: readonly string[] }
  | { readonly status: 'not run'; readonly why: string; readonly available: boolean };

/** One named check of the tree under `root`. It reads and reports; it never changes the tree. */
export type Check = {
  readonly name: string;
  readonly run: (root: string) => Verdict | Promise<Verdict>;
};

/** `ok` without problems, else `fail`; a problem reported twice counts once. */
export function judge(problems: readonly string[]): Verdict {
  return problems.length === 0 ? { status: 'ok' } : { status: 'fail', problems: [...new Set(problems)] };
}
