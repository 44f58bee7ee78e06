import { html } from '../../kit/html.ts';
import { durationIn } from '../answer/strings.ts';
import type { ApprovalPageStrings } from './strings-en.ts';

const next = 'Sie können dieses Fenster schließen.';

export const GERMAN_APPROVAL_PAGE: ApprovalPageStrings = {
  signInWhy:
    'Der Aufruf eines Werkzeugs wartet auf die Zustimmung einer bestimmten Person. Mit der Anmeldung bestätigen Sie, dass Sie diese Person sind. Entschieden wird damit noch nichts.',
  entry: {
    title: 'Ein Aufruf wartet auf Ihre Zustimmung',
    lead: 'Eine Person oder ein Programm, das Sie nutzen, hat Ihnen diesen Link geschickt, damit Sie über den Aufruf eines Werkzeugs entscheiden. Öffnen Sie ihn nur, wenn Sie ihn erwarten. Er lässt sich nur in einem Browser öffnen.',
    button: 'Aufruf anzeigen',
    signIn: 'Zum Entscheiden anmelden',
  },
  title: (agent, tool) => html`${agent} möchte „${tool}“ benutzen`,
  tool: 'Werkzeug',
  risk: 'Risiko',
  risks: { low: 'Gering', medium: 'Mittel', high: 'Hoch' },
  traits: {
    reads: 'Liest nach eigener Angabe nur',
    changes: 'Kann etwas ändern oder löschen',
    keeps: 'Löscht nach eigener Angabe nichts',
    reaches: 'Kann andere Dienste erreichen',
    unknown: 'Sagt nicht, was es kann',
  },
  arguments: 'Das wird gesendet',
  noArguments: 'Der Aufruf hat keine Angaben.',
  secret: 'geheim, wird nicht gezeigt',
  empty: 'leerer Text',
  rememberFor: (time) =>
    time === 'conversation'
      ? 'In diesem Gespräch nicht mehr fragen'
      : `${time.days === 1 ? 'Einen Tag' : `${time.days} Tage`} lang nicht mehr fragen`,
  rememberHelp:
    'Gilt mit einer Zustimmung: für dieses Werkzeug, diesen Agenten und dieselbe Regel, mit beliebigen Angaben.',
  reason: 'Grund, falls Sie ablehnen (freiwillig)',
  reasonHelp: 'Der Agent liest ihn.',
  reasonFault:
    'Es wurde nichts entschieden. Der Grund ist zu lang oder enthält ein Zeichen, das sich nicht senden lässt.',
  approve: 'Zustimmen',
  deny: 'Ablehnen',
  timeLeft: (leftMs) =>
    `Verbleibende Zeit für die Entscheidung: ${durationIn('de', leftMs)}. Danach unterbleibt der Aufruf.`,
  editElsewhere:
    'Um mit anderen Angaben zuzustimmen, entscheiden Sie im Chat oder im Eingang Ihrer Anwendung.',
  ended: {
    approved: { title: 'Dem Aufruf wurde zugestimmt', what: 'Der Agent darf ihn jetzt machen.', next },
    edited: {
      title: 'Dem Aufruf wurde mit Änderungen zugestimmt',
      what: 'Der Agent darf ihn mit den geänderten Angaben machen.',
      next,
    },
    denied: {
      title: 'Der Aufruf wurde abgelehnt',
      what: 'Er unterbleibt, und der Agent erfährt davon.',
      next,
    },
    expired: {
      title: 'Die Zeit für die Entscheidung ist abgelaufen',
      what: 'Niemand hat rechtzeitig entschieden, darum unterbleibt der Aufruf.',
      next,
    },
    withdrawn: {
      title: 'Dieser Aufruf wird nicht mehr gebraucht',
      what: 'Er wurde zurückgenommen, zum Beispiel weil das Gespräch angehalten wurde. Er unterbleibt.',
      next,
    },
  },
  late: 'Ihre Entscheidung kam zu spät und wurde nicht gespeichert.',
};
