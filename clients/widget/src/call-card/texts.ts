/** The texts of the call card itself. Those of questions and approvals are the widget's. */
interface CallTexts {
  readonly working: string;
  /** Says which tool the call uses. */
  readonly using: (tool: string) => string;
  /** The name of the progress bar. */
  readonly progress: string;
  /** The call waits for its user in another place, and nothing more is known about it. */
  readonly waiting: string;
  /** The heading of what the user decides in another place. */
  readonly elsewhere: string;
  /** The heading of what the user decides on a page. */
  readonly onPage: string;
  readonly open: (host: string) => string;
  readonly offline: string;
  readonly over: string;
  readonly goOn: string;
  /** Replaces the button if the host accepts no messages. */
  readonly sayDone: string;
  /** The message for the host's model. */
  readonly done: (tool: string) => string;
}

const ENGLISH: CallTexts = {
  working: 'Working…',
  using: (tool) => `Using ${tool}`,
  progress: 'Progress',
  waiting: 'This call waits for you.',
  elsewhere: 'Decide where you were asked, or in the inbox of your application:',
  onPage: 'Sign in and decide on the page:',
  open: (host) => `Open the page on ${host}`,
  offline: 'The assistant cannot reach the service right now. Trying again…',
  over: 'Nothing waits here any more.',
  goOn: 'Continue in the chat',
  sayDone: 'Tell the assistant that you are done.',
  done: (tool) =>
    `I have acted on what ${tool} was waiting for. Call it again with exactly the same arguments: that call continues.`,
};

const GERMAN: CallTexts = {
  working: 'In Arbeit …',
  using: (tool) => `${tool} wird verwendet`,
  progress: 'Fortschritt',
  waiting: 'Dieser Aufruf wartet auf Sie.',
  elsewhere: 'Entscheiden Sie dort, wo Sie gefragt wurden, oder im Eingang Ihrer Anwendung:',
  onPage: 'Melden Sie sich an und entscheiden Sie auf der Seite:',
  open: (host) => `Seite auf ${host} öffnen`,
  offline: 'Der Assistent erreicht den Dienst gerade nicht. Neuer Versuch …',
  over: 'Hier wartet nichts mehr.',
  goOn: 'Im Chat weitermachen',
  sayDone: 'Sagen Sie dem Assistenten, dass Sie fertig sind.',
  done: (tool) =>
    `Ich habe erledigt, worauf ${tool} gewartet hat. Ruf es noch einmal mit genau denselben Argumenten auf: Der Aufruf geht dann weiter.`,
};

/** The texts in a language (BCP 47); English for languages without texts. */
export function textsIn(lang: string): CallTexts {
  return /^de\b/i.test(lang) ? GERMAN : ENGLISH;
}
