import type { text as english } from './strings.ts'

export const agent: typeof english = {
  overview: 'Übersicht',
  access: 'Wer schreiben darf',
  tokens: 'Tokens und Verbindungen',
  webhooks: 'Webhooks',
  secrets: 'Geheimnisse',
  settings: 'Einstellungen',
  tabs: 'Seiten dieses Agenten',
  toInbox: 'Posteingang öffnen',
  gone: 'Diesen Agenten gibt es nicht',
  address: 'Seine Adresse',
  addressHint: 'Hier empfängt er bereits E-Mails, und von hier sendet er seine Antworten.',
  metadata: 'Werte, die Programme bei ihm ablegen',
  write: 'Schreiben Sie ihm',
  writeHint: (smtp) =>
    `Das geht mit jedem E-Mail-Programm, das an ${smtp} zustellen kann. In einem Terminal auf diesem Rechner zum Beispiel so:`,
  noSmtp: 'E-Mails an diese Adresse kommen über den Mailserver des Dienstes an, der anderswo läuft.',
  send: 'Eine E-Mail an ihn senden',
  connect: 'Agenten verbinden',
  connectHint: 'Wo läuft Ihr Agent?',
  host: 'Wo der Agent läuft',
  code: {
    claude: 'In einem Terminal ausführen, dann Claude Code starten',
    codex: 'In einem Terminal ausführen, dann Codex von dort starten',
    cursor: 'In ~/.cursor/mcp.json eintragen',
    chatgpt: 'Die URL des Konnektors',
    curl: 'In einem Terminal ausführen',
    javascript: 'Mit Node 20 oder neuer ausführen',
  },
  codeHint: {
    claude: 'Fragen Sie dann: „Welche Nachrichten sind in meinem Posteingang?“',
    codex:
      'Codex liest das Token aus der Umgebung: Damit es erhalten bleibt, tragen Sie die erste Zeile in das Profil Ihrer Shell ein.',
    cursor:
      'Gibt es die Datei schon, ergänzen Sie nur den Teil „inbox“. Schalten Sie den Server dann in Cursors Einstellungen unter MCP ein.',
    chatgpt:
      'In ChatGPT: Settings → Apps → Advanced settings → Developer mode einschalten → Create, mit dieser URL und OAuth als Authentifizierung. Eine Seite dieses Dienstes fragt dann, als welcher Agent ChatGPT handeln darf. Ein Token ist nicht nötig.',
    curl: 'Das listet die Nachrichten des Agenten auf.',
    javascript:
      'Das gibt jede neue Nachricht aus. Davor erstellt „npm run client:pack“ im Ordner des Dienstes das Paket, und „npm install ./agent-messaging-client-1.1.0.tgz“ installiert es.',
  },
  notPublic: (url) =>
    `ChatGPT muss diesen Dienst über das Internet erreichen können, doch seine Adresse ist ${url}. Setzen Sie zuerst PUBLIC_URL auf eine https-URL.`,
  makeToken: 'Token erstellen und einsetzen',
  makeTokenHint:
    'Das Token ist das Passwort des Agenten: Ein Programm, das es hat, handelt als dieser Agent.',
  tokenOnce:
    'Das Token ist unten eingesetzt und wird nur jetzt angezeigt. Kopieren Sie es, bevor Sie diese Seite verlassen.',
  noRight: 'Nur Mitglieder, die Tokens erstellen dürfen, können ihn verbinden.',
  connected: 'Er ist verbunden',
  connectedAs: {
    listener: (client) => `${client} empfängt Nachrichten.`,
    app: (name) => `${name} darf als dieser Agent handeln.`,
    token: 'Ein Programm hat das Token des Agenten benutzt',
  },
  waiting: 'Die Verbindung steht noch aus. Diese Seite zeigt sie innerhalb von zwei Sekunden.',
  notYet: 'Was tun, wenn nichts passiert?',
  notYetSteps: (url) => [
    `Das Programm muss ${url} erreichen: Öffnen Sie diese Adresse in einem Browser auf demselben Rechner.`,
    'Kopieren Sie noch einmal den ganzen Text: Ein Token, dem ein Zeichen fehlt, wird abgelehnt.',
    'Starten Sie das Programm neu: Die meisten lesen ihre Einstellungen nur beim Start.',
    'In Claude Code und Codex zeigt der Befehl /mcp, was nicht funktioniert hat.',
  ],
  onlyListed:
    'Bisher dürfen ihm nur Absender von seiner Liste schreiben, und nur, wenn ihre Domain beweist, wer sie sind. Eine E-Mail aus einem Terminal beweist nichts und würde daher abgewiesen.',
  admitAnyone: 'Alle schreiben lassen',
  anyone: 'Alle dürfen ihm schreiben. Ändern Sie das, bevor Sie die Adresse an Fremde weitergeben.',
  captured:
    'Es ist kein Mailserver zum Senden eingerichtet: Was der Agent sendet, wird in DATA_DIR/outbox gespeichert.',
  arrives: 'Neueste Nachrichten',
  nothing: 'Noch keine. Diese Liste ist live: Schreiben Sie an die Adresse, und sehen Sie zu.',
  noSubject: '(kein Betreff)',
  refused: 'Abgewiesen',
}
