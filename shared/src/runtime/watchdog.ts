import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

/** The thread ends the process after so many checks in a row at which the event loop had not turned. */
const CHECKS = 10;
/** How long the thread waits for the stack of the main thread and for the reader of stderr, in ms. */
const LAST_WORDS_MS = 2_000;

export interface WatchdogOptions {
  /** The process ends once its event loop has not turned for so long, in ms. 0: never. */
  readonly limitMs: number;
}

/**
 * Ends the process with SIGKILL when its event loop no longer turns, so that an orchestrator starts it anew: such a
 * process answers no probe, renews no lease and reacts to no signal. It first writes one line of JSON to stderr with the
 * functions that keep the loop busy. A process that was paused as a whole lives on, because the thread that checks was
 * paused as well. Does nothing while a debugger is attached. Returns a function that stops watching.
 */
export function startWatchdog({ limitMs }: WatchdogOptions): () => void {
  if (limitMs === 0 || inspectorUrl() !== undefined) return () => undefined;
  const checkMs = Math.max(1, Math.round(limitMs / CHECKS));
  const turns = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const turning = setInterval(() => Atomics.add(turns, 0, 1), checkMs).unref();
  const workerData = { turns, checkMs, limitMs, checks: CHECKS, lastWordsMs: LAST_WORDS_MS };
  const thread = new Worker(THREAD, { eval: true, workerData });
  thread.unref();
  return () => {
    clearInterval(turning);
    void thread.terminate();
  };
}

// The thread is a text, because a bundle, a build and a run from the sources would each look for its file elsewhere.
// Debugger.pause interrupts a main thread that runs microtasks without end, and says where it is.
const THREAD = `
  const { Session } = require('node:inspector');
  const { write } = require('node:fs');
  const { turns, checkMs, limitMs, checks, lastWordsMs } = require('node:worker_threads').workerData;
  let seen = -1;
  let silent = 0;
  const checking = setInterval(() => {
    const now = Atomics.load(turns, 0);
    silent = now === seen ? silent + 1 : 0;
    seen = now;
    if (silent < checks) return;
    clearInterval(checking);
    const kill = () => process.kill(process.pid, 'SIGKILL');
    const end = (stack) => {
      const msg = 'the event loop has not turned for ' + limitMs + ' ms: the process ends';
      write(2, JSON.stringify({ level: 60, time: Date.now(), msg, stack }) + '\\n', kill);
    };
    setTimeout(() => end([]), lastWordsMs);
    setTimeout(kill, lastWordsMs * 2);
    const session = new Session();
    session.connectToMainThread();
    session.on('Debugger.paused', ({ params }) =>
      end(params.callFrames.map(({ functionName, url, location }) =>
        (functionName || 'anonymous') + ' ' + url + ':' + (location.lineNumber + 1))));
    session.post('Debugger.enable', () => session.post('Debugger.pause'));
  }, checkMs);
`;
