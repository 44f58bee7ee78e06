import type {
  AnswerEvent,
  AttemptEvent,
  BegunEvent,
  CallEvent,
  FeedEvent,
  FinalEvent,
  KillEvent,
  RunEvent,
  SaidEvent,
  TermEvent,
  WriteEvent,
} from './events.ts';

/** What one connection showed, and how it ended. */
export type Reading = { readonly texts: string[]; clean: boolean | undefined };

/** All that was seen of one conversation. */
export type RunDossier = {
  readonly conversation: string;
  readonly begun: BegunEvent[];
  /** Terms and writes as Redis did them. */
  readonly done: (TermEvent | WriteEvent)[];
  readonly attempts: AttemptEvent[];
  readonly said: SaidEvent[];
  readonly calls: CallEvent[];
  readonly answers: AnswerEvent[];
  readonly readings: Map<string, Reading>;
  readonly finals: FinalEvent[];
};

export type IndexedRuns = { readonly dossiers: readonly RunDossier[]; readonly kills: readonly KillEvent[] };

/** Sorts a history by conversation, in one pass. */
export function indexRuns(events: readonly RunEvent[]): IndexedRuns {
  const dossiers = new Map<string, RunDossier>();
  const kills: KillEvent[] = [];
  for (const event of events) {
    if (event.type === 'kill') kills.push(event);
    else file(dossierOf(dossiers, event.conversation), event);
  }
  return { dossiers: [...dossiers.values()], kills };
}

function dossierOf(dossiers: Map<string, RunDossier>, conversation: string): RunDossier {
  const known = dossiers.get(conversation);
  if (known !== undefined) return known;
  const lists = { begun: [], done: [], attempts: [], said: [], calls: [], answers: [], finals: [] };
  const made: RunDossier = { conversation, ...lists, readings: new Map() };
  dossiers.set(conversation, made);
  return made;
}

function file(dossier: RunDossier, event: Exclude<RunEvent, KillEvent>): void {
  switch (event.type) {
    case 'begun':
      dossier.begun.push(event);
      return;
    case 'term':
    case 'write':
      dossier.done.push(event);
      return;
    case 'attempt':
      dossier.attempts.push(event);
      return;
    case 'said':
      dossier.said.push(event);
      return;
    case 'call':
      dossier.calls.push(event);
      return;
    case 'answer':
      dossier.answers.push(event);
      return;
    case 'final':
      dossier.finals.push(event);
      return;
    default: {
      const reading = dossier.readings.get(event.connection) ?? { texts: [], clean: undefined };
      dossier.readings.set(event.connection, reading);
      if (event.type === 'seen') reading.texts.push(event.text);
      else reading.clean = event.clean;
    }
  }
}

/** What a feed says in the end: that which no restart of a step made void. */
export function standingOf(feed: readonly FeedEvent[]): readonly FeedEvent[] {
  const standing: { readonly event: FeedEvent; readonly step: number }[] = [];
  let step = -1;
  for (const event of feed) {
    if (event.name === 'step-restarted') {
      const from = event.step ?? 0;
      const kept = standing.filter((one) => one.step < from);
      standing.splice(0, standing.length, ...kept);
      continue;
    }
    if (event.name === 'step-started') step = event.step ?? step;
    standing.push({ event, step });
  }
  return standing.map(({ event }) => event);
}

/** The text of a feed, step by step. */
export function textsOf(feed: readonly FeedEvent[]): Map<number, string> {
  const texts = new Map<number, string>();
  let step = -1;
  for (const { name, text = '', ...event } of standingOf(feed)) {
    if (name === 'step-started') step = event.step ?? step;
    if (name === 'text-delta') texts.set(step, (texts.get(step) ?? '') + text);
  }
  return texts;
}

/** All that a feed says in the end, as one text. */
export function textOf(feed: readonly FeedEvent[]): string {
  return [...textsOf(feed).values()].join('');
}

export function isEnding({ name }: FeedEvent): boolean {
  return name === 'turn-finished' || name === 'turn-failed';
}
