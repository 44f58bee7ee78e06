/**
 * Runs work under a signal that is aborted after `ms`, or when `signal` is. `AbortSignal.timeout` is no alternative: Node 20
 * may garbage-collect a timeout signal that only `AbortSignal.any` refers to, and then it never fires.
 */
export async function withTimeLimit<Result>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const limit = new AbortController();
  const end = () => limit.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  // The timer keeps a reference to the signal until the work is done.
  const timer = setTimeout(end, ms);
  try {
    return await work(signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]));
  } finally {
    clearTimeout(timer);
  }
}

/** What `work` resolves to; undefined where that takes longer than `ms`. The work itself goes on. */
export async function within<Result>(ms: number, work: Promise<Result>): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
