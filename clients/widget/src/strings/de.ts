/**
 * The German texts of all elements, in a separate file, so that only German pages load it. Their types are in `type.ts`,
 * `approval.ts` and `inbox.ts`.
 */

import type { FormControl } from '@parley/core/domain/forms/controls';
import type { AddressRefusal } from '../address.ts';
import { GERMAN_APPROVAL } from './de-approval.ts';
import type { AllStrings } from './inbox.ts';
import { ageIn, countdownIn, durationIn, momentIn, numberIn, pluralIn, roughlyIn } from './time.ts';
import type { SettledQuestion, Why } from './type.ts';

const DE = 'de';
const number = (value: number) => numberIn(DE, value);
const count = (amount: number, one: string, other: string) =>
  `${number(amount)} ${pluralIn(DE, amount, one, other)}`;
const characters = (amount: number) => `${number(amount)} Zeichen`;
const choices = (amount: number) => count(amount, 'Möglichkeit', 'Möglichkeiten');

/** The German texts. An element loads them if its language is German. */
export const GERMAN: AllStrings = {
  lang: DE,

  someAgent: 'der Dienst hinter diesem Chat',
  questionFrom: (agent) => `Eine Frage. Es fragt: ${agent}`,
  asks: (agent) => `Es fragt: ${agent}`,
  why,
  risk: (risk) => `Risiko: ${{ low: 'gering', medium: 'mittel', high: 'hoch' }[risk]}`,
  sensitive: 'Als vertraulich gekennzeichnet: Das Sprachmodell soll die Antwort nicht erhalten.',

  send: 'Senden',
  sending: 'Wird gesendet …',
  decline: 'Ablehnen',
  notNow: 'Jetzt nicht',
  cancel: 'Abbrechen',
  openPage: 'Seite öffnen',
  connectAccount: 'Konto verbinden',
  openAgain: 'Noch einmal öffnen',
  checkNow: 'Jetzt prüfen',
  checking: 'Wird geprüft …',
  copyLink: 'Link kopieren',
  copied: 'Link kopiert',
  copyFailed: 'Der Link ließ sich nicht kopieren. Die Adresse ist für Sie markiert.',
  tryAgain: 'Noch einmal versuchen',
  newTab: 'öffnet sich in einem neuen Tab',

  opens: (host) => `Geöffnet wird ${host}`,
  warningTitle: 'Prüfen Sie diese Adresse, bevor Sie sie öffnen',
  warning: (warning) =>
    ({
      punycode:
        'Die Domain enthält Buchstaben, die anderen Buchstaben ähneln können. Fahren Sie nur fort, wenn Sie diese Adresse kennen.',
      address: 'Die Seite hat statt eines Namens eine Zahlenadresse.',
      port: 'Die Adresse nennt einen ungewöhnlichen Port.',
      not_encrypted: 'Die Verbindung ist nicht verschlüsselt: Andere können sie lesen.',
      user_info:
        'Die Adresse enthält einen Benutzernamen, der wie die Website aussehen kann. Es zählt der hervorgehobene Teil.',
    })[warning],
  addressRefused,
  lookFirst: 'Bitte prüfen Sie zuerst die Adresse.',
  nothingOpened: 'Wenn sich nichts öffnet, kopieren Sie den Link in Ihren Browser.',

  loading: 'Die Frage wird geladen …',
  waitingThere: 'Bitte fahren Sie im anderen Fenster fort',
  waitingThereHint: 'Diese Karte wird aktualisiert, sobald Sie dort fertig sind.',
  ended,
  gone: 'Diese Frage gibt es nicht mehr.',
  offline: 'Keine Verbindung. Ihre Antwort bleibt auf dieser Seite.',

  requiredMark: 'erforderlich',
  choose: 'Bitte wählen',
  noAnswer: 'Keine Angabe',
  yes: 'Ja',
  no: 'Nein',
  hint,
  localTime: (timeZone) => `Ihre Ortszeit (${timeZone})`,
  room: (left) => `${characters(Math.abs(left))} ${left < 0 ? 'zu viel' : 'übrig'}`,
  fault: (fault) => {
    switch (fault.rule) {
      case 'required':
        return 'Bitte ausfüllen.';
      case 'comma':
        return 'Bitte schreiben Sie Dezimalzahlen mit Punkt und lassen Sie andere Trennzeichen weg, zum Beispiel 1.5.';
      case 'number':
        return 'Bitte geben Sie eine Zahl ein, zum Beispiel 12 oder 1.5.';
      case 'integer':
        return 'Bitte geben Sie eine ganze Zahl ein.';
      case 'safe':
        return 'Diese Zahl ist zu groß, um genau aufbewahrt zu werden.';
      // Numbers are written as a number field accepts them, without thousands separators.
      case 'minimum':
        return `Bitte geben Sie mindestens ${fault.limit} ein.`;
      case 'maximum':
        return `Bitte geben Sie höchstens ${fault.limit} ein.`;
      case 'minLength':
        return `Bitte geben Sie mindestens ${characters(fault.limit)} ein.`;
      case 'maxLength':
        return `Bitte geben Sie höchstens ${characters(fault.limit)} ein.`;
      case 'minItems':
        return `Bitte wählen Sie mindestens ${choices(fault.limit)}.`;
      case 'maxItems':
        return `Bitte wählen Sie höchstens ${choices(fault.limit)}.`;
      case 'format':
        return {
          email: 'Bitte geben Sie eine E-Mail-Adresse ein, zum Beispiel ada@example.com.',
          uri: 'Bitte geben Sie eine vollständige Adresse ein, zum Beispiel https://example.com/.',
          date: 'Bitte geben Sie ein Datum ein, das es gibt, zum Beispiel 2026-03-01.',
          'date-time': 'Bitte geben Sie Datum und Uhrzeit ein, zum Beispiel 2026-03-01 09:30.',
        }[fault.format];
      case 'unicode':
      case 'nul':
        return 'Darin ist ein Zeichen, das sich nicht senden lässt. Bitte tippen Sie es neu.';
      default:
        return 'Bitte wählen Sie etwas aus der Liste.';
    }
  },
  serverFault: (message) => `Nicht angenommen: ${message}`,

  refusal: (code, retryAfterSeconds) => {
    switch (code) {
      case 'invalid_answer':
        return 'Die Antwort wurde nicht angenommen. Bitte prüfen Sie sie.';
      case 'unauthenticated':
      case 'forbidden':
        return 'Sie sind abgemeldet, oder diese Frage ist für eine andere Person.';
      case 'too_large':
        return 'Die Antwort ist zu lang. Bitte kürzen Sie sie.';
      case 'rate_limited':
        return `Das war viel in kurzer Zeit. Bitte versuchen Sie es noch einmal; Wartezeit: ${durationIn(DE, (retryAfterSeconds ?? 10) * 1_000)}.`;
      default:
        return 'Das ist nicht gelungen. Bitte versuchen Sie es noch einmal.';
    }
  },

  countdown: (leftMs) => `noch ${countdownIn(DE, leftMs)}`,
  timeLeft: (leftMs) => `Noch ${roughlyIn(DE, leftMs)} Zeit für die Antwort.`,

  connection: (state) =>
    ({
      connecting: 'Verbindung wird aufgebaut …',
      live: 'Aktuell',
      polling: 'Wird alle paar Sekunden aktualisiert',
      offline: 'Keine Verbindung; es wird weiter versucht',
    })[state],
  age: (ageMs) => (ageMs < 60_000 ? 'gerade eben' : ageIn(DE, ageMs)),
  until: (deadline) => `bis ${momentIn(DE, deadline)}`,

  inboxTitle: 'Wartet auf Sie',
  waiting: (amount) => count(amount, 'wartet', 'warten'),
  waitingLong: (amount) => `${count(amount, 'Frage wartet', 'Fragen warten')} auf Sie`,
  inboxEmpty: 'Es wartet nichts auf Sie.',

  arrived: (agent) => `Neue Frage. Es fragt: ${agent}`,

  ...GERMAN_APPROVAL,
};

function why({ trigger, tool }: Why): string | undefined {
  switch (trigger) {
    case 'credential_required':
      return tool === undefined
        ? 'Dafür wird Zugang zu einem Ihrer Konten gebraucht.'
        : `Um ${tool} zu nutzen, wird Zugang gebraucht.`;
    case 'mcp_elicitation':
      return tool === undefined
        ? 'Ein verbundener Server braucht das.'
        : `${tool} braucht das, um weiterzumachen.`;
    case 'a2a_input_required':
      return tool === undefined
        ? 'Ein anderer Agent braucht das, um weiterzumachen.'
        : `Der Agent ${tool} braucht das, um weiterzumachen.`;
    default:
      return tool === undefined ? undefined : `Gebraucht für ${tool}.`;
  }
}

function addressRefused(reason: AddressRefusal): string {
  return {
    not_a_url: 'Das ist keine Adresse einer Seite und lässt sich darum nicht öffnen.',
    not_web: 'Das ist keine Adresse einer Webseite und wird darum nicht geöffnet.',
    too_long: 'Diese Adresse ist zu lang und wird darum nicht geöffnet.',
  }[reason];
}

function ended({ status, mode, here, reason }: SettledQuestion): string {
  switch (status) {
    case 'accepted':
      if (mode === 'url') return here ? 'Erledigt.' : 'Das wurde abgeschlossen.';
      return here ? 'Ihre Antwort ist gesendet.' : 'Das wurde an anderer Stelle beantwortet.';
    case 'declined':
      return here ? 'Sie haben abgelehnt.' : 'Das wurde an anderer Stelle abgelehnt.';
    case 'cancelled':
      return here
        ? 'Sie haben die Frage ohne Antwort geschlossen.'
        : 'Diese Frage wurde an anderer Stelle ohne Antwort geschlossen.';
    case 'expired':
      return 'Die Zeit für die Antwort ist abgelaufen.';
    case 'withdrawn':
      if (reason === 'run_stopped') {
        return 'Das Gespräch wurde angehalten, darum wird die Antwort nicht mehr gebraucht.';
      }
      if (reason === 'superseded') return 'Eine andere Frage hat diese ersetzt.';
      return 'Das wird nicht mehr gebraucht.';
  }
}

function hint({ kind, least, most }: FormControl): string | undefined {
  const say = kind === 'multi' ? choices : kind === 'number' || kind === 'integer' ? String : characters;
  if (least !== undefined && least === most) return `Genau ${say(least)}`;
  if (least !== undefined && most !== undefined) return `${least} bis ${say(most)}`;
  if (least !== undefined) return `Mindestens ${say(least)}`;
  return most === undefined ? undefined : `Höchstens ${say(most)}`;
}
