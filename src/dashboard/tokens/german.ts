import type { text as english } from './strings.ts'

export const tokens: typeof english = {
  listeners: 'Verbindungen',
  listenersHint:
    'Sie melden neue Nachrichten sofort. Es kann immer nur ein Programm verbunden sein, daneben beliebig viele Webhooks.',
  nobody: 'Nichts ist verbunden. Nachrichten werden gespeichert und Ereignisse sieben Tage lang aufbewahrt.',
  client: (client, machine) => `${client} auf ${machine}`,
  webhook: 'Webhook',
  tokens: 'Tokens',
  tokensHint:
    'Mit einem Token handelt ein Programm als dieser Agent: über REST, GraphQL, MCP und den Ereignisstrom.',
  create: 'Neues Token',
  none: 'Keine Tokens',
  list: 'Tokens dieses Agenten',
  columns: { name: 'Name', created: 'Erstellt', used: 'Zuletzt benutzt', expires: 'Läuft ab' },
  unnamed: 'Ohne Namen',
  never: 'nie',
  revoke: 'Widerrufen',
  revokeTitle: 'Dieses Token widerrufen?',
  revokeHint: (name) =>
    `Programme, die „${name}“ benutzen, werden innerhalb einer Sekunde getrennt und können sich nicht wieder verbinden.`,
  name: 'Name',
  nameHint: 'Wo es benutzt wird: Produktion, Laptop.',
  lifetime: 'Gültig für',
  lifetimes: { '': 'unbegrenzt', '30': '30 Tage', '90': '90 Tage', '365': 'ein Jahr' },
  submit: 'Token erstellen',
  created: 'Das Token',
  once: 'Es wird nur einmal gezeigt. Speichern Sie es, wo Ihr Programm es lesen kann; der Dienst behält nur einen Hash.',
  token: 'das Token',
  use: 'So wird es benutzt',
  done: 'Fertig',
}
