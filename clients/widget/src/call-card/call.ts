/**
 * The state of one tool call in a card inside an MCP Apps host: what it waits for, and what the host must be told. Rendering is
 * in `page.ts`, and messages with the host are in `host.ts`.
 */

import { isRecord } from '@parley/core/domain/plain-record';
import type { Approval } from '../approval.ts';
import { isPending, newerApproval } from '../approval.ts';
import { type Elicitation, isOpen, newer } from '../elicitation.ts';
import { connectHost, type Host, type HostContext } from './host.ts';
import { type CallServer, createCallServer, type WaitingState } from './server.ts';

const POLL_MS = 2_000;
// This interval applies while the page is hidden, and while the host refuses.
const SLOW_POLL_MS = 10_000;
/** The maximum number of ended questions whose state is still requested. */
const SHOWN_MAX = 20;
/** The key in the `_meta` of a result which tells the card that the call continues, and which tool it uses. */
const CALL_META_KEY = 'parley/call';

interface CallListener {
  readonly onChange: () => void;
  readonly onContext: (context: HostContext) => void;
  /** The text for the host's model after the user has acted in the card. */
  readonly doneText: (tool: string) => string;
}

/** One tool call, as reported by its host and by Parley. */
export class Call {
  /** The newest state of everything that was asked while this card existed. */
  readonly questions = new Map<string, Elicitation>();
  readonly approvals = new Map<string, Approval>();
  elsewhere: WaitingState['elsewhere'] = [];
  progress: WaitingState['progress'] = {};
  state: WaitingState['state'] = 'unknown';
  isOffline = false;
  /** True if the host no longer waits for the call, so that its model has to call again. */
  isTold = false;
  /** True if the host has the result of the call, or has given the call up. */
  isOver = false;
  /** Whether the host was told that the user has acted. */
  message: 'none' | 'sent' | 'refused' = 'none';
  readonly server: CallServer;

  readonly #listener: CallListener;
  #host: Host | undefined;
  #tool: string | undefined;
  #arguments: Readonly<Record<string, unknown>> | undefined;
  #reading: Promise<WaitingState> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isLeft = false;
  #hasActed = false;
  /** True if the call has waited for its user while this card existed. */
  #hasWaited = false;

  constructor(listener: CallListener) {
    this.#listener = listener;
    this.server = createCallServer({
      host: { request: (method, params) => this.#request(method, params) },
      call: () => ({ tool: this.#tool ?? '', arguments: this.#arguments ?? {} }),
      refresh: () => this.#read(),
      viewOf: (id) => this.questions.get(id),
    });
  }

  /** Whether the user has something to do here or on a page. */
  get isAsking(): boolean {
    return [...this.questions.values()].some(isOpen) || [...this.approvals.values()].some(isPending);
  }

  /** True if the user has acted, and another call of the model would continue. */
  get mayGoOn(): boolean {
    const goesOn = this.state === 'working' || this.state === 'ended';
    return this.isTold && !this.isOver && this.#hasWaited && !this.isAsking && goesOn;
  }

  async connect(): Promise<void> {
    this.#host = await connectHost({
      onContext: (context) => {
        const { toolInfo } = context;
        const tool = isRecord(toolInfo) && isRecord(toolInfo.tool) ? toolInfo.tool.name : undefined;
        if (typeof tool === 'string') this.#tool = tool;
        this.#listener.onContext(context);
      },
      onInput: (args) => {
        this.#arguments = args;
        this.poll();
      },
      onResult: (result) => this.#onResult(result),
      onCancelled: () => this.#end(),
      onTeardown: () => this.#leave(),
    });
    document.addEventListener('visibilitychange', () => this.poll());
    this.#listener.onChange();
  }

  /**
   * Call when the user has answered or decided in the card. Once nothing is waiting any more, the host is told without another
   * press.
   */
  acted(): void {
    this.#hasActed = true;
    this.poll();
  }

  /** Reads the call now, and again at intervals while it continues. */
  poll(): void {
    clearTimeout(this.#timer);
    if (this.#isLeft || this.#tool === undefined || this.#arguments === undefined) return;
    this.#read().then(
      () => this.#pollIn(document.hidden ? SLOW_POLL_MS : POLL_MS),
      () => this.#pollIn(SLOW_POLL_MS / 2),
    );
  }

  /** Asks the host to open a page. False if it refuses. */
  async open(url: string): Promise<boolean> {
    const result = await this.#request('ui/open-link', { url }).catch(() => undefined);
    return result !== undefined && result.isError !== true;
  }

  /** Sends the host's model a message in the user's name, so that it calls again. */
  async tellDone(): Promise<void> {
    if (this.message === 'sent') return;
    this.message = 'sent';
    const content = [{ type: 'text', text: this.#listener.doneText(this.#tool ?? '') }];
    const result = await this.#request('ui/message', { role: 'user', content }).catch(() => undefined);
    if (result === undefined || result.isError === true) this.message = 'refused';
    this.#listener.onChange();
  }

  /** Reports the height that the card now needs. */
  resized(height: number): void {
    this.#host?.notify('ui/notifications/size-changed', { height });
  }

  #request(method: string, params: object) {
    return this.#host?.request(method, params) ?? Promise.reject(new Error('There is no host'));
  }

  #onResult({ _meta: meta }: Readonly<Record<string, unknown>>): void {
    const told = isRecord(meta) ? meta[CALL_META_KEY] : undefined;
    if (!isRecord(told)) this.#end();
    else {
      this.isTold = true;
      if (typeof told.tool === 'string') this.#tool = told.tool;
      this.#pollAnew();
    }
  }

  /** The same as `poll`, but with a new read, because a running one may be older than the call. */
  #pollAnew(): void {
    const before: Promise<unknown> = this.#reading ?? Promise.resolve();
    const poll = () => this.poll();
    before.then(poll, poll);
  }

  #end(): void {
    this.isOver = true;
    this.#pollAnew();
    this.#listener.onChange();
  }

  #leave(): void {
    this.#isLeft = true;
    clearTimeout(this.#timer);
  }

  #pollIn(ms: number): void {
    const isDone = this.isOver || (this.isTold && (this.state === 'ended' || this.state === 'unknown'));
    if (this.#isLeft || (isDone && !this.isOffline)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.poll(), ms);
  }

  /** Reads the call. Concurrent callers share one read. */
  #read(): Promise<WaitingState> {
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = undefined;
      this.#listener.onChange();
      if (this.#hasActed && this.mayGoOn && this.message === 'none') void this.tellDone();
    });
    return this.#reading;
  }

  async #readNow(): Promise<WaitingState> {
    const open = [
      ...[...this.questions].filter(([, view]) => isOpen(view)),
      ...[...this.approvals].filter(([, view]) => isPending(view)),
    ];
    try {
      const read = await this.server.waiting(open.map(([id]) => id).slice(-SHOWN_MAX));
      this.isOffline = false;
      this.state = read.state;
      this.#hasWaited ||= read.state === 'waiting';
      this.elsewhere = read.elsewhere;
      this.progress = read.progress;
      for (const view of read.questions)
        this.questions.set(view.elicitationId, newer(this.questions.get(view.elicitationId), view));
      for (const view of read.approvals)
        this.approvals.set(view.approvalId, newerApproval(this.approvals.get(view.approvalId), view));
      if (read.state === 'unknown' && (this.isTold || this.isOver)) this.#dropOpen();
      return read;
    } catch (error) {
      this.isOffline = true;
      throw error;
    }
  }

  /** Ends all open questions of a call that is no longer known, because it was stopped or its result was fetched. */
  #dropOpen(): void {
    for (const [id, view] of this.questions) if (isOpen(view)) this.questions.delete(id);
    for (const [id, view] of this.approvals) if (isPending(view)) this.approvals.delete(id);
  }
}
