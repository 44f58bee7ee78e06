/** The texts around the frame of a server's page. */
interface AppTexts {
  readonly loading: string;
  /** The page could not be read. */
  readonly failed: string;
  readonly retry: string;
  /** The page was stopped, because it sent too many messages. */
  readonly ended: string;
  readonly from: (service: string) => string;
  readonly opens: (service: string) => string;
  readonly open: string;
  readonly stay: string;
  readonly waits: (service: string) => string;
}

const ENGLISH: AppTexts = {
  loading: 'Loading…',
  failed: 'This page could not be shown.',
  retry: 'Try again',
  ended: 'This page was closed, because it sent too many messages.',
  from: (service) => `Page of ${service}`,
  opens: (service) => `${service} wants to open this address:`,
  open: 'Open',
  stay: 'Do not open',
  waits: (service) => `${service} waits for you:`,
};

const GERMAN: AppTexts = {
  loading: 'Wird geladen …',
  failed: 'Diese Seite konnte nicht angezeigt werden.',
  retry: 'Noch einmal versuchen',
  ended: 'Diese Seite wurde geschlossen, weil sie zu viele Nachrichten gesendet hat.',
  from: (service) => `Seite von ${service}`,
  opens: (service) => `${service} möchte diese Adresse öffnen:`,
  open: 'Öffnen',
  stay: 'Nicht öffnen',
  waits: (service) => `${service} wartet auf Sie:`,
};

/** The texts in a language; English if there are none. */
export function textsOf(lang: string): AppTexts {
  return /^de(?:-|$)/i.test(lang) ? GERMAN : ENGLISH;
}
