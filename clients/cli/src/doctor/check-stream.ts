import { randomUUID } from 'node:crypto';
import type { Target } from './check-server.ts';
import { type Finding, fault, fine, unseen } from './finding.ts';
import { probe } from './probe.ts';

interface StreamTimes {
  /** The time limit for the first line, which is sent with the headers. */
  readonly firstMs: number;
  /** The time limit for a heartbeat. Heartbeats come every 15 s, unless PARLEY_HEARTBEAT_MS says otherwise. */
  readonly heartbeatMs: number;
}

const TIMES: StreamTimes = { firstMs: 5_000, heartbeatMs: 20_000 };
const CHECK = 'streams';
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Opens a silent stream in the same way as clients do, and waits for its first heartbeat. A proxy in between may hold events
 * back, or cut silent connections.
 */
export async function checkStream(target: Target, times: StreamTimes = TIMES): Promise<Finding> {
  const ending = new AbortController();
  const limit = (ms: number) => setTimeout(() => ending.abort(), ms);
  let timer = limit(times.firstMs);
  const begun = performance.now();
  const seconds = () => Math.round((performance.now() - begun) / 1_000);
  try {
    const probed = await probe(`${target.baseUrl}${pathFor(target.token)}`, {
      token: target.token,
      headers: { accept: 'text/event-stream' },
      signal: ending.signal,
    });
    if (!('reply' in probed))
      return ending.signal.aborted
        ? held('Nothing of a stream came')
        : unseen(CHECK, `a stream could not be opened: ${probed.why}`);
    const { status, headers, body } = probed.reply;
    if (status === 401 || status === 403) return unseen(CHECK, 'this token may open no stream');
    if (
      status !== 200 ||
      headers.get('content-type')?.startsWith('text/event-stream') !== true ||
      body === null
    )
      return fault(CHECK, 'stream_refused', `A stream was answered with ${status}.`);
    const encoding = headers.get('content-encoding');
    if (encoding !== null) return fault(CHECK, 'stream_compressed', `Streams come compressed (${encoding}).`);
    const reader = body.getReader();
    const next = () =>
      reader.read().then(
        ({ done }) => !done,
        () => false,
      );
    if (!(await next())) return ending.signal.aborted ? held('Nothing of a stream came') : cut(seconds());
    clearTimeout(timer);
    timer = limit(times.heartbeatMs);
    if (await next())
      return fine(CHECK, `events come as they are sent; a heartbeat came after ${seconds()} s`);
    return ending.signal.aborted ? held('No heartbeat came') : cut(seconds());
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

/** The stream to open: a person's inbox, or for a service a stream on which nobody asks. */
function pathFor(token: string): string {
  return JWT.test(token) ? '/v1/inbox/events' : `/v1/streams/doctor-${randomUUID()}/events?userId=doctor`;
}

const held = (what: string) => fault(CHECK, 'stream_buffered', `${what} in time.`);
const cut = (seconds: number) => fault(CHECK, 'stream_cut', `A stream was cut after ${seconds} s.`);
