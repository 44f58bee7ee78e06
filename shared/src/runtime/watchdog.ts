import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

/** The thread ends the process after this many consecutive checks without a turn of the event loop. */
const CHECKS = 10;
/** With a shorter limit, in ms, a garbage collection could end a healthy process. */
const LIMIT_MIN_MS = 1_000;
/** How long the thread waits for the stack of the main thread, and for the reader of stderr, in ms. */
const LAST_WORDS_MS = 2_000;
/** The exit status of a process that the watchdog ended: an internal software error (EX_SOFTWARE of sysexits.h). */
const EXIT_STATUS = 70;
/** The thread only counts, and its memory is limited, so that it costs a pod little. */
const THREAD_LIMITS = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };

interface WatchdogOptions {
  /** The process ends after its event loop has been blocked for this long, in ms: at least 1,000, or 0 for never. */
  readonly limitMs: number;
}

/**
 * Ends the process with status 70 when its event loop is blocked, so that an orchestrator restarts it: such a process answers
 * no probe, renews no lease and reacts to no signal. It first writes one line of JSON to stderr with the functions that block
 * the loop. A process that was suspended as a whole survives, because the checking thread was suspended too; so does one to
 * which a debugger may attach. Returns a function that stops watching.
 */
export function startWatchdog({ limitMs }: WatchdogOptions): () => void {
  if (limitMs === 0) return () => undefined;
  const checkMs = Math.round(Math.max(limitMs, LIMIT_MIN_MS) / CHECKS);
  /** Shared memory: how often the loop has turned, and whether a debugger may attach. */
  const shared = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  const turning = setInterval(() => {
    Atomics.add(shared, 0, 1);
    Atomics.store(shared, 1, inspectorUrl() === undefined ? 0 : 1);
  }, checkMs).unref();
  const workerData = {
    shared,
    checkMs,
    limitMs,
    checks: CHECKS,
    lastWordsMs: LAST_WORDS_MS,
    status: EXIT_STATUS,
  };
  // The options of the process are not inherited, because the thread needs neither a loader nor a preloaded agent.
  const options = { eval: true, workerData, execArgv: [], env: {}, resourceLimits: THREAD_LIMITS };
  const thread = new Worker(THREAD, options);
  // A process without a watchdog is better than one that a fault of its watchdog ends.
  thread.on('error', () => clearInterval(turning));
  thread.unref();
  return () => {
    clearInterval(turning);
    void thread.terminate();
  };
}

// The thread's source is a text, because a bundle, a build and a run from the sources would each look for a file elsewhere.
// Debugger.pause interrupts a main thread that runs microtasks without end, and tells where it is. The main thread then exits
// by itself, because the kernel ignores a SIGKILL that the first process of a container sends to itself.
const THREAD = `
  const { write } = require('node:fs');
  const { shared, checkMs, limitMs, checks, lastWordsMs, status } = require('node:worker_threads').workerData;
  let seen = -1;
  let silent = 0;
  const checking = setInterval(() => {
    const now = Atomics.load(shared, 0);
    silent = now === seen ? silent + 1 : 0;
    seen = now;
    const isDebugged = Atomics.load(shared, 1) === 1;
    if (silent < checks || isDebugged) return;
    clearInterval(checking);
    const kill = () => process.kill(process.pid, 'SIGKILL');
    const say = (stack, then) => {
      const msg = 'the event loop has not turned for ' + limitMs + ' ms: the process ends';
      write(2, JSON.stringify({ level: 60, time: Date.now(), msg, stack }) + '\\n', then);
    };
    setTimeout(() => say([], kill), lastWordsMs);
    setTimeout(kill, lastWordsMs * 2);
    try {
      const { Session } = require('node:inspector');
      const session = new Session();
      session.connectToMainThread();
      session.on('Debugger.paused', ({ params }) => {
        const frames = params.callFrames.map(({ functionName, url, location }) =>
          (functionName || 'anonymous') + ' ' + url + ':' + (location.lineNumber + 1));
        const { callFrameId } = params.callFrames[0];
        const expression = 'globalThis.process.reallyExit(' + status + ')';
        say(frames, () => session.post('Debugger.evaluateOnCallFrame', { callFrameId, expression }));
      });
      session.post('Debugger.enable', () => session.post('Debugger.pause'));
    } catch {
      say([], kill);
    }
  }, checkMs);
`;
