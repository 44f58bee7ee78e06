import { GERMAN_ANSWER } from './answer/strings-de.ts';
import { html } from './html.ts';
import type { PageStrings } from './strings.ts';

export const GERMAN: PageStrings = {
  common: {
    fault: 'Nicht angenommen',
    close: 'Sie können dieses Fenster schließen und zum Chat zurückkehren.',
    tryAgain: 'Noch einmal versuchen',
    startAgain: 'Um von vorn zu beginnen, öffnen Sie den Link im Chat noch einmal.',
    forSupport: (id) => html`Wenn Sie um Hilfe bitten, nennen Sie diese Nummer: ${id}`,
    providerSaid: (code) => html`Der Dienst hat diesen Fehler gemeldet: ${code}`,
  },
  signIn: {
    title: 'Bitte melden Sie sich an',
    why: 'Dieser Link gilt für eine bestimmte Person. Mit der Anmeldung zeigen Sie, dass Sie es sind; verbunden wird damit noch nichts.',
    where: (organisation) => html`Sie melden sich bei ${organisation} an und kommen danach hierher zurück.`,
    button: 'Anmelden',
  },
  devSignIn: {
    title: 'Wer sind Sie?',
    warning: 'Diese Anmeldung ist nur für die Entwicklung. Sie glaubt, was immer Sie eingeben.',
    label: 'Benutzerkennung',
    help: 'Die Person, für die die Frage im Chat war.',
    button: 'Anmelden',
  },
  asking: {
    unnamed: 'der Dienst hinter diesem Chat',
    unnamedFirst: 'Der Dienst hinter diesem Chat',
    person: 'Angemeldet als',
    words: (agent) => html`${agent} schreibt`,
    decline: 'Ablehnen',
    afterDecline: (agent) =>
      html`Wenn Sie ablehnen, geschieht nichts, und ${agent} erfährt davon. Sie können dieses Fenster auch schließen und später entscheiden, solange die Frage im Chat offen ist.`,
    personLater: 'Danach wird geprüft, ob Sie es waren. Vorher kann nichts verwendet werden.',
  },
  consent: {
    title: (service) => html`${service} verbinden`,
    lead: (agent, service) => html`${agent} möchte in Ihrem Namen Ihr Konto bei ${service} nutzen.`,
    origin: 'Sie werden weitergeleitet zu',
    originLater: (service) => html`Anmeldeseite von ${service}`,
    lookAlike:
      'Diese Adresse enthält Buchstaben, die anderen Buchstaben ähneln können. Fahren Sie nur fort, wenn Sie diese Adresse kennen.',
    scopes: 'Erbetene Berechtigungen',
    scopesLater: 'Der Dienst zeigt Ihnen, worum gebeten wird, bevor Sie zustimmen.',
    steps: (service) =>
      html`Dort melden Sie sich bei ${service} an und sagen, ob Sie zustimmen. Ihr Passwort bleibt dort: Weder diese Seite noch der Chat bekommt es zu sehen. Danach kommen Sie hierher zurück.`,
    proceed: 'Weiter',
    proceedTo: (host) => html`Weiter zu ${host}`,
  },
  secret: {
    title: (service) => html`${service} verbinden`,
    lead: (agent, service) =>
      html`${agent} möchte in Ihrem Namen ${service} nutzen und braucht dafür einen Schlüssel von Ihnen.`,
    kept: (agent, service) =>
      html`Der Schlüssel wird verschlüsselt aufbewahrt und nur an ${service} gesendet, wenn ${agent} dort für Sie arbeitet. Weder der Chat noch das Sprachmodell bekommt ihn zu sehen.`,
    onceTitle: (label) => html`Eingeben: ${label}`,
    onceLead: (agent, label) => html`${agent} bittet Sie um eine geheime Angabe: ${label}.`,
    once: (tool, agent) =>
      html`Sie wird einmal an ${tool} übergeben und dann gelöscht. Weder der Chat noch das Sprachmodell, das ${agent} nutzt, bekommt sie zu sehen.`,
    faults: {
      empty: 'Das Feld war leer. Bitte füllen Sie es aus.',
      rejected:
        'Die Eingabe wurde nicht angenommen. Bitte prüfen Sie, ob Sie alles kopiert haben, und geben Sie sie noch einmal ein.',
      unavailable:
        'Die Eingabe ließ sich gerade nicht prüfen, darum wurde nichts aufbewahrt. Bitte geben Sie sie gleich noch einmal ein.',
    },
    proceed: 'Verbinden',
    onceProceed: 'Übergeben',
  },
  answer: GERMAN_ANSWER,
  continue: {
    title: (host) => html`Weiter zu ${host}`,
    lead: 'Sie werden weitergeleitet zu',
    link: (host) => html`${host} öffnen`,
  },
  waiting: {
    title: 'Warten auf die Bestätigung des Dienstes',
    lead: 'Diese Seite sieht alle paar Sekunden von selbst nach.',
    look: 'Jetzt nachsehen',
    close:
      'Sie können dieses Fenster auch schließen. Der Chat geht von selbst weiter, sobald der Dienst bestätigt hat.',
  },
  done: {
    title: (service) => html`${service} ist verbunden`,
    titlePlain: 'Erledigt',
    lead: 'Der Chat geht von selbst weiter.',
    kept: (service) =>
      html`Die Frage im Chat war inzwischen beendet, darum geht nichts von selbst weiter. Aber ${service} ist jetzt verbunden und wird beim nächsten Mal genutzt.`,
    keptPlain:
      'Die Frage im Chat war inzwischen beendet, darum geht nichts von selbst weiter. Ihre Eingabe wird beim nächsten Mal genutzt.',
    withheld: 'Diese Berechtigungen haben Sie nicht erteilt:',
    withheldNext:
      'Manches geht ohne sie vielleicht nicht. Sie werden wieder gefragt, wenn sie gebraucht werden.',
  },
  declined: {
    title: 'Sie haben abgelehnt',
    what: 'Es wurde nichts verbunden oder übergeben. Der Agent oder Dienst, der gefragt hat, ist benachrichtigt.',
    next: 'Sie können dieses Fenster schließen und zum Chat zurückkehren.',
  },
  expired: {
    title: 'Dieser Link ist abgelaufen',
    what: 'Die Zeit für die Frage im Chat ist um. Es wurde nichts verbunden.',
    next: 'Fragen Sie im Chat noch einmal; dort bekommen Sie einen neuen Link.',
  },
  settled: {
    title: 'Diese Frage ist beendet',
    what: 'Sie wurde schon beantwortet oder zurückgezogen. Hier ist nichts mehr zu tun.',
    next: 'Sie können dieses Fenster schließen und zum Chat zurückkehren.',
  },
  mismatch: {
    title: 'Dieser Link ist für jemand anderen',
    what: 'Sie sind als eine andere Person angemeldet als die, für die dieser Link gilt. Es wurde nichts verbunden.',
    next: 'Wenn der Link versehentlich zu Ihnen kam, schließen Sie einfach dieses Fenster. Verbinden Sie nie ein Konto für jemanden, der Ihnen einen Link geschickt hat.',
    signOut: 'Als jemand anderes anmelden',
    noSignOut:
      'Wenn es Ihr eigener Link ist, melden Sie sich bei Ihrer Organisation ab und öffnen Sie ihn im Chat noch einmal.',
  },
  notFound: {
    title: 'Dieser Link führt nirgendwohin',
    what: 'Vielleicht ist er unvollständig oder zu alt.',
    next: 'Kehren Sie zum Chat zurück und öffnen Sie den Link dort.',
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
      next: 'Bitte versuchen Sie es noch einmal. Wenn es wieder nicht geht, sagen Sie es den Betreibern dieses Chats.',
    },
    bad_state: {
      title: 'Diese Antwort gehört zu einem anderen Versuch',
      what: 'Vielleicht haben Sie die Seite zweimal geöffnet oder sind zwischendurch zurückgegangen. Es wurde nichts verbunden.',
      next: 'Bitte versuchen Sie es noch einmal von vorn, in nur einem Fenster.',
    },
    bad_issuer: {
      title: 'Die Antwort kam von der falschen Stelle',
      what: 'Sie nennt einen anderen Anmeldedienst als den, zu dem Sie geschickt wurden. Sicherheitshalber wurde nichts verbunden.',
      next: 'Bitte versuchen Sie es noch einmal. Wenn es wieder geschieht, sagen Sie es den Betreibern dieses Chats.',
    },
    rejected_key: {
      title: 'Der Schlüssel wurde nicht angenommen',
      what: 'Der Dienst kennt diesen Schlüssel nicht. Es wurde nichts aufbewahrt.',
      next: 'Bitte prüfen Sie den Schlüssel und versuchen Sie es noch einmal.',
    },
    unavailable: {
      title: 'Der Dienst ist nicht erreichbar',
      what: 'Er hat nicht rechtzeitig geantwortet. Es wurde nichts verbunden, und die Frage ist noch offen.',
      next: 'Bitte versuchen Sie es in ein paar Minuten noch einmal.',
    },
    'sign-in': {
      title: 'Die Anmeldung hat nicht geklappt',
      what: 'Die Anmeldung bei Ihrer Organisation endete ohne gültige Antwort. Es wurde nichts verbunden.',
      next: 'Bitte versuchen Sie es noch einmal. Wenn es wieder nicht geht, sagen Sie es den Betreibern dieses Chats.',
    },
  },
  refused: {
    title: 'Bitte noch einmal',
    what: 'Diese Seite konnte nicht erkennen, dass der Klick von Ihnen kam; vielleicht war sie zu lange offen, oder Cookies sind gesperrt. Es wurde nichts verbunden.',
    next: 'Öffnen Sie die Seite neu und treffen Sie Ihre Wahl dort noch einmal.',
  },
  tooMany: {
    title: 'Zu viele Versuche',
    what: 'Das wurde in kurzer Zeit sehr oft versucht. Es wurde nichts verbunden.',
    waitSeconds: (seconds) =>
      `Bitte warten Sie ${seconds === 1 ? 'eine Sekunde' : `${seconds} Sekunden`}, gehen Sie dann zurück und versuchen Sie es noch einmal.`,
    waitMinutes: (minutes) =>
      `Bitte warten Sie ${minutes === 1 ? 'eine Minute' : `${minutes} Minuten`}, gehen Sie dann zurück und versuchen Sie es noch einmal.`,
  },
  unavailable: {
    title: 'Das geht gerade nicht',
    what: 'Der Fehler liegt bei uns. Die Frage im Chat ist davon nicht betroffen.',
    next: 'Bitte warten Sie einen Moment, gehen Sie dann zurück und versuchen Sie es noch einmal.',
  },
};
