/**
 * Works under a signal that is aborted after a time, and with `signal`. `AbortSignal.timeout` does not serve here: Node 20 may
 * collect a timeout signal that only `AbortSignal.any` holds, and then it never fires.
 */
export async function withTimeLimit<Result>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const limit = new AbortController();
  const end = () => limit.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  // The timer holds the signal until the work is done.
  const timer = setTimeout(end, ms);
  try {
    return await work(signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]));
  } finally {
    clearTimeout(timer);
  }
}
