/** The German texts of the hosted pages. Each part with many texts has a table of its own in its folder. */

import { html } from '../kit/html.ts';
import { GERMAN_ACCOUNTS } from './accounts/strings-de.ts';
import { GERMAN_ANSWER } from './answer/strings-de.ts';
import { GERMAN_APPROVAL_PAGE } from './approval/strings-de.ts';
import { GERMAN_CONSOLE_SIGN_IN } from './console/strings-de.ts';
import { GERMAN_INBOX } from './inbox/strings-de.ts';
import { GERMAN_LINK } from './link/strings-de.ts';
import type { PageStrings } from './strings-en.ts';

export const GERMAN: PageStrings = {
  common: {
    fault: 'Nicht angenommen',
    close: 'Sie können dieses Fenster schließen und zum Chat zurückkehren.',
    tryAgain: 'Noch einmal versuchen',
    startAgain: 'Um neu zu beginnen, öffnen Sie den Link noch einmal dort, wo Sie ihn gefunden haben.',
    forSupport: (id) => html`Wenn Sie um Hilfe bitten, nennen Sie diese Kennung: ${id}`,
    providerSaid: (code) => html`Der Dienst hat diesen Fehler gemeldet: ${code}`,
  },
  signIn: {
    title: 'Bitte melden Sie sich an',
    why: 'Dieser Link gilt für eine bestimmte Person. Mit der Anmeldung bestätigen Sie, dass Sie diese Person sind. Verbunden wird damit noch nichts.',
    where: (organisation) =>
      html`Sie melden sich bei ${organisation} an und kehren danach auf diese Seite zurück.`,
    button: 'Anmelden',
  },
  devSignIn: {
    title: 'Wer sind Sie?',
    warning: 'Diese Anmeldung ist nur für die Entwicklung. Sie nimmt jede Kennung ohne Prüfung an.',
    label: 'Benutzerkennung',
    help: 'Die Person, an die sich die Frage im Chat richtet.',
    button: 'Anmelden',
  },
  asking: {
    unnamed: 'der Dienst hinter diesem Chat',
    unnamedFirst: 'Der Dienst hinter diesem Chat',
    person: 'Angemeldet als',
    words: (agent) => html`${agent} schreibt`,
    decline: 'Ablehnen',
    afterDecline: (agent) =>
      html`Wenn Sie ablehnen, wird nichts verbunden oder gesendet, und ${agent} wird benachrichtigt. Sie können dieses Fenster auch schließen und später entscheiden, solange die Frage im Chat offen ist.`,
    personLater: 'Ihre Identität wird danach geprüft. Vor dieser Prüfung kann nichts verwendet werden.',
  },
  consent: {
    title: (service) => html`${service} verbinden`,
    lead: (agent, service) => html`${agent} möchte in Ihrem Namen Ihr Konto bei ${service} nutzen.`,
    origin: 'Sie werden weitergeleitet zu',
    originLater: (service) => html`Anmeldeseite von ${service}`,
    lookAlike:
      'Diese Adresse enthält Buchstaben, die anderen Buchstaben ähneln können. Fahren Sie nur fort, wenn Sie diese Adresse kennen.',
    scopes: 'Angeforderte Berechtigungen',
    scopesLater: 'Der Dienst zeigt Ihnen die angeforderten Berechtigungen, bevor Sie zustimmen.',
    steps: (service) =>
      html`Dort melden Sie sich bei ${service} an und stimmen zu oder lehnen ab. Weder diese Seite noch der Chat erhält Ihr Passwort. Danach kehren Sie auf diese Seite zurück.`,
    proceed: 'Weiter',
    proceedTo: (host) => html`Weiter zu ${host}`,
  },
  secret: {
    title: (service) => html`${service} verbinden`,
    lead: (agent, service) =>
      html`${agent} möchte in Ihrem Namen ${service} nutzen und benötigt dafür Ihren Schlüssel.`,
    kept: (agent, service) =>
      html`Der Schlüssel wird verschlüsselt gespeichert. Er wird nur an ${service} gesendet, wenn ${agent} dort für Sie handelt. Weder der Chat noch das Sprachmodell erhält ihn.`,
    onceTitle: (label) => html`Eingeben: ${label}`,
    onceLead: (agent, label) => html`${agent} bittet Sie um eine geheime Angabe: ${label}.`,
    once: (tool, agent) =>
      html`Sie wird einmal an ${tool} gesendet und dann gelöscht. Weder der Chat noch das Sprachmodell, das ${agent} nutzt, erhält sie.`,
    faults: {
      empty: 'Das Feld war leer. Bitte füllen Sie es aus.',
      rejected:
        'Die Eingabe wurde nicht angenommen. Bitte prüfen Sie, ob Sie alles kopiert haben, und geben Sie sie noch einmal ein.',
      unavailable:
        'Die Eingabe konnte gerade nicht geprüft werden, darum wurde nichts gespeichert. Bitte geben Sie sie in einem Moment noch einmal ein.',
    },
    proceed: 'Verbinden',
    onceProceed: 'Senden',
  },
  answer: GERMAN_ANSWER,
  approval: GERMAN_APPROVAL_PAGE,
  accounts: GERMAN_ACCOUNTS,
  inbox: GERMAN_INBOX,
  console: GERMAN_CONSOLE_SIGN_IN,
  link: GERMAN_LINK,
  continue: {
    title: (host) => html`Weiter zu ${host}`,
    lead: 'Sie werden weitergeleitet zu',
    link: (host) => html`${host} öffnen`,
  },
  waiting: {
    title: 'Warten auf die Bestätigung des Dienstes',
    lead: 'Diese Seite prüft automatisch alle paar Sekunden.',
    look: 'Jetzt prüfen',
    close:
      'Sie können dieses Fenster auch schließen. Der Chat wird automatisch fortgesetzt, sobald der Dienst bestätigt hat.',
  },
  done: {
    title: (service) => html`${service} ist verbunden`,
    titlePlain: 'Erledigt',
    lead: 'Der Chat wird automatisch fortgesetzt.',
    kept: (service) =>
      html`Die Frage im Chat war bereits beendet, darum wird der Chat nicht automatisch fortgesetzt. ${service} ist jetzt verbunden und wird beim nächsten Mal genutzt.`,
    keptPlain:
      'Die Frage im Chat war bereits beendet, darum wird der Chat nicht automatisch fortgesetzt. Ihre Eingabe wird beim nächsten Mal genutzt.',
    withheld: 'Diese Berechtigungen haben Sie nicht erteilt:',
    withheldNext:
      'Einige Funktionen sind ohne sie vielleicht nicht möglich. Sie werden wieder gefragt, wenn sie gebraucht werden.',
  },
  declined: {
    title: 'Sie haben abgelehnt',
    what: 'Es wurde nichts verbunden oder gesendet. Der Agent oder Dienst, der gefragt hat, wurde benachrichtigt.',
    next: 'Sie können dieses Fenster schließen und zum Chat zurückkehren.',
  },
  expired: {
    title: 'Dieser Link ist abgelaufen',
    what: 'Die Zeit für die Antwort auf die Frage im Chat ist abgelaufen. Es wurde nichts verbunden.',
    next: 'Fragen Sie im Chat noch einmal. Dort erhalten Sie einen neuen Link.',
  },
  settled: {
    title: 'Diese Frage ist beendet',
    what: 'Sie wurde schon beantwortet oder zurückgezogen. Sie müssen hier nichts mehr tun.',
    next: 'Sie können dieses Fenster schließen und zum Chat zurückkehren.',
  },
  mismatch: {
    title: 'Dieser Link ist für eine andere Person',
    what: 'Sie sind nicht als die Person angemeldet, für die dieser Link gilt. Es wurde nichts verbunden.',
    next: 'Wenn Sie diesen Link versehentlich erhalten haben, schließen Sie dieses Fenster. Verbinden Sie nie ein Konto für eine Person, die Ihnen einen Link geschickt hat.',
    signOut: 'Als andere Person anmelden',
    noSignOut:
      'Wenn es Ihr eigener Link ist, melden Sie sich bei Ihrer Organisation ab und öffnen Sie den Link im Chat noch einmal.',
  },
  notFound: {
    title: 'Dieser Link funktioniert nicht',
    what: 'Vielleicht ist er unvollständig oder zu alt.',
    next: 'Öffnen Sie den Link noch einmal dort, wo Sie ihn gefunden haben.',
  },
  failed: {
    consent_refused: {
      title: 'Sie haben nicht zugestimmt',
      what: 'Der Dienst meldet, dass Sie dort nicht zugestimmt haben. Es wurde nichts verbunden, und die Frage ist noch offen.',
      next: 'Sie können es noch einmal versuchen oder im Chat ablehnen.',
    },
    provider_error: {
      title: 'Der Dienst hat einen Fehler gemeldet',
      what: 'Es wurde nichts verbunden. Die Frage im Chat ist noch offen.',
      next: 'Bitte versuchen Sie es noch einmal. Wenn es wieder nicht gelingt, informieren Sie die Betreiber dieses Chats.',
    },
    bad_state: {
      title: 'Diese Antwort gehört zu einem anderen Versuch',
      what: 'Vielleicht haben Sie die Seite zweimal geöffnet oder die Zurück-Taste benutzt. Es wurde nichts verbunden.',
      next: 'Bitte beginnen Sie noch einmal neu, in nur einem Fenster.',
    },
    bad_issuer: {
      title: 'Die Antwort kam vom falschen Dienst',
      what: 'Sie nennt einen anderen Anmeldedienst als den, zu dem Sie weitergeleitet wurden. Zu Ihrer Sicherheit wurde nichts verbunden.',
      next: 'Bitte versuchen Sie es noch einmal. Wenn es wieder geschieht, informieren Sie die Betreiber dieses Chats.',
    },
    rejected_key: {
      title: 'Der Schlüssel wurde nicht angenommen',
      what: 'Der Dienst erkennt diesen Schlüssel nicht an. Es wurde nichts gespeichert.',
      next: 'Bitte prüfen Sie den Schlüssel und versuchen Sie es noch einmal.',
    },
    unavailable: {
      title: 'Der Dienst ist nicht erreichbar',
      what: 'Er hat nicht rechtzeitig geantwortet. Es wurde nichts verbunden, und die Frage ist noch offen.',
      next: 'Bitte versuchen Sie es in ein paar Minuten noch einmal.',
    },
    'sign-in': {
      title: 'Die Anmeldung ist nicht gelungen',
      what: 'Die Anmeldung bei Ihrer Organisation endete ohne gültige Antwort. Es wurde nichts geändert.',
      next: 'Bitte versuchen Sie es noch einmal. Wenn es wieder nicht gelingt, informieren Sie die Betreiber dieses Chats.',
    },
  },
  refused: {
    title: 'Bitte wiederholen Sie Ihre Wahl',
    what: 'Diese Seite konnte nicht bestätigen, dass der Klick von Ihnen kam. Vielleicht war sie zu lange geöffnet, oder Ihr Browser blockiert Cookies. Es wurde nichts geändert.',
    next: 'Öffnen Sie die Seite noch einmal und wiederholen Sie dort Ihre Wahl.',
  },
  tooMany: {
    title: 'Zu viele Versuche',
    what: 'Es gab zu viele Versuche in kurzer Zeit. Es wurde nichts geändert.',
    waitSeconds: (seconds) =>
      `Bitte warten Sie ${seconds === 1 ? 'eine Sekunde' : `${seconds} Sekunden`}, gehen Sie dann zurück und versuchen Sie es noch einmal.`,
    waitMinutes: (minutes) =>
      `Bitte warten Sie ${minutes === 1 ? 'eine Minute' : `${minutes} Minuten`}, gehen Sie dann zurück und versuchen Sie es noch einmal.`,
  },
  unavailable: {
    title: 'Das ist im Moment nicht möglich',
    what: 'Der Fehler liegt bei uns. Was auf Sie wartet, ist nicht betroffen.',
    next: 'Bitte warten Sie einen Moment, gehen Sie dann zurück und versuchen Sie es noch einmal.',
  },
};
