/** The German texts of the answer page. Markup around them is in `templates.ts`. */

import type { FormControl } from '@parley/core/domain/forms/controls';
import { html } from '../../kit/html.ts';
import { type ControlFault, durationIn } from './strings.ts';
import type { AnswerStrings } from './strings-en.ts';

const choices = (amount: number) => (amount === 1 ? '1 Auswahl' : `${amount} Auswahlen`);
const characters = (amount: number) => `${amount.toLocaleString('de')} Zeichen`;
const FORMATS = {
  email: 'Bitte geben Sie eine E-Mail-Adresse ein, zum Beispiel ada@example.com.',
  uri: 'Bitte geben Sie eine vollständige Adresse ein, zum Beispiel https://example.com/.',
  date: 'Bitte geben Sie ein Datum ein, das es gibt, zum Beispiel 2026-03-01.',
  'date-time':
    'Bitte geben Sie Datum, Uhrzeit und Abstand zur UTC ein, zum Beispiel 2026-03-01T09:30:00+01:00.',
};

export const GERMAN_ANSWER: AnswerStrings = {
  entry: {
    title: 'Eine Frage an Sie',
    lead: 'Eine Person oder ein Programm, das Sie nutzen, hat Ihnen diesen Link geschickt, um Sie etwas zu fragen. Öffnen Sie ihn nur, wenn Sie ihn erwarten. Er lässt sich nur in einem Browser öffnen.',
    button: 'Frage anzeigen',
    label: 'Ihr Link',
    help: 'Kopieren Sie den ganzen Link in dieses Feld.',
    signIn: 'Zum Antworten anmelden',
  },
  signInWhy:
    'Eine Frage wartet auf eine bestimmte Person. Mit der Anmeldung bestätigen Sie, dass Sie diese Person sind. Beantwortet wird damit noch nichts.',
  mismatch: {
    title: 'Diese Frage gilt einer anderen Person',
    what: 'Sie sind nicht als die Person angemeldet, an die sich diese Frage richtet. Es wurde nichts beantwortet.',
    next: 'Wenn Sie diesen Link versehentlich erhalten haben, schließen Sie dieses Fenster.',
  },
  title: 'Eine Frage an Sie',
  timeLeft: (leftMs) => `Verbleibende Zeit für die Antwort: ${durationIn('de', leftMs)}.`,
  opens: 'Sie werden weitergeleitet zu',
  requiredMark: 'erforderlich',
  choose: 'Bitte wählen',
  noAnswer: 'Keine Angabe',
  yes: 'Ja',
  no: 'Nein',
  hint,
  fault,
  faults: 'Ihre Antwort wurde nicht gesendet. Bitte korrigieren Sie die markierten Felder.',
  send: 'Antwort senden',
  proceedTo: (host) => html`Weiter zu ${host}`,
  ended: {
    answered: {
      title: 'Ihre Antwort ist gespeichert',
      what: 'Der Agent oder Dienst, der gefragt hat, hat sie erhalten.',
      next: 'Sie können dieses Fenster schließen.',
    },
    declined: {
      title: 'Sie haben abgelehnt',
      what: 'Es wurde nichts beantwortet. Der Agent oder Dienst, der gefragt hat, hat das erfahren.',
      next: 'Sie können dieses Fenster schließen.',
    },
    expired: {
      title: 'Die Zeit für die Antwort ist abgelaufen',
      what: 'Niemand hat rechtzeitig geantwortet. Der Agent oder Dienst, der gefragt hat, hat das erfahren.',
      next: 'Wenn es noch wichtig ist, bitten Sie dort, woher die Frage kam, noch einmal um sie.',
    },
    settled: {
      title: 'Diese Frage ist beendet',
      what: 'Sie wurde an anderer Stelle beantwortet oder zurückgezogen. Sie müssen hier nichts mehr tun.',
      next: 'Sie können dieses Fenster schließen.',
    },
  },
  late: 'Ihre Antwort kam zu spät und wurde nicht gespeichert.',
  spent: {
    title: 'Dieser Link lässt sich nicht öffnen',
    what: 'Er ist zu alt, wurde zurückgezogen oder wurde in einem anderen Browser geöffnet. Hier wurde nichts beantwortet.',
    next: 'Wenn Sie noch antworten möchten, bitten Sie dort um einen neuen Link, woher Sie diesen haben.',
  },
};

function hint({ kind, least, most }: FormControl): string | undefined {
  if (kind === 'date-time')
    return 'Datum, Uhrzeit und Abstand zur UTC, zum Beispiel 2026-03-01T09:30:00+01:00';
  const say = kind === 'multi' ? choices : kind === 'number' || kind === 'integer' ? String : characters;
  if (least !== undefined && least === most) return `Genau ${say(least)}`;
  if (least !== undefined && most !== undefined) return `${least} bis ${say(most)}`;
  if (least !== undefined) return `Mindestens ${say(least)}`;
  return most === undefined ? undefined : `Höchstens ${say(most)}`;
}

function fault(given: ControlFault): string {
  switch (given.rule) {
    case 'required':
      return 'Dieses Feld ist erforderlich.';
    case 'number':
      return 'Bitte geben Sie eine Zahl mit Dezimalpunkt und ohne Tausendertrennzeichen ein, zum Beispiel 1.5.';
    case 'integer':
      return 'Bitte geben Sie eine ganze Zahl ein.';
    case 'safe':
      return 'Bitte geben Sie eine Zahl mit weniger Ziffern ein.';
    case 'minimum':
      return `Bitte geben Sie mindestens ${given.limit} ein.`;
    case 'maximum':
      return `Bitte geben Sie höchstens ${given.limit} ein.`;
    case 'minLength':
      return `Bitte geben Sie mindestens ${characters(given.limit)} ein.`;
    case 'maxLength':
      return `Bitte geben Sie höchstens ${characters(given.limit)} ein.`;
    case 'minItems':
      return `Bitte wählen Sie mindestens ${given.limit} aus.`;
    case 'maxItems':
      return `Bitte wählen Sie höchstens ${given.limit} aus.`;
    case 'pattern':
      return 'Die Eingabe hat nicht die verlangte Form. Bitte beachten Sie die Beschreibung des Feldes.';
    case 'format':
      return FORMATS[given.format];
    case 'unicode':
    case 'nul':
      return 'Der Text enthält ein Zeichen, das sich nicht senden lässt.';
    default:
      return 'Bitte wählen Sie aus der Liste.';
  }
}
