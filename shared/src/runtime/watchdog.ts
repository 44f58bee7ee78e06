import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

/** The thread ends the process after this many checks in a row between which the event loop has not turned. */
const CHECKS = 10;
/** With a shorter limit, a collection of garbage could end a healthy process. In ms. */
const LIMIT_MIN_MS = 1_000;
/** How long the thread waits for the stack of the main thread and for the reader of stderr, in ms. */
const LAST_WORDS_MS = 2_000;
/** The exit status of a process that the watchdog ended: an internal software error (EX_SOFTWARE of sysexits.h). */
const EXIT_STATUS = 70;
/** The thread only counts. Its memory is bounded, so that it costs a pod little. */
const THREAD_LIMITS = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };

interface WatchdogOptions {
  /** The process ends once its event loop has not turned for so long, in ms; at least 1,000. 0: never. */
  readonly limitMs: number;
}

/**
 * Ends the process with status 70 when its event loop no longer turns, so that an orchestrator starts it anew: such a
 * process answers no probe, renews no lease and reacts to no signal. It first writes one line of JSON to stderr with the
 * functions that keep the loop busy. A process that was paused as a whole lives on, because the thread that checks was
 * paused as well; so does one while a debugger may attach to it. Returns a function that stops watching.
 */
export function startWatchdog({ limitMs }: WatchdogOptions): () => void {
  if (limitMs === 0) return () => undefined;
  const checkMs = Math.round(Math.max(limitMs, LIMIT_MIN_MS) / CHECKS);
  /** How often the loop has turned, and whether a debugger may attach. */
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
  // Without the options of the process: the thread needs no loader, and no agent that a preload starts.
  const options = { eval: true, workerData, execArgv: [], env: {}, resourceLimits: THREAD_LIMITS };
  const thread = new Worker(THREAD, options);
  // A process without a watchdog is better than a process that a fault of its watchdog ends.
  thread.on('error', () => clearInterval(turning));
  thread.unref();
  return () => {
    clearInterval(turning);
    void thread.terminate();
  };
}

// The source of the thread is a text, because a bundle, a build and a run from the sources would each look for its file
// elsewhere. Debugger.pause interrupts a main thread that runs microtasks without end, and says where it is. The main
// thread then exits by itself, since the kernel ignores a SIGKILL that the first process of a container sends to itself.
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
