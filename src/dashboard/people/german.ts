import type { text as english } from './strings.ts'

export const people: typeof english = {
  members: 'Mitglieder',
  list: 'Mitglieder des Arbeitsbereichs',
  columns: {
    person: 'Person',
    role: 'Rolle',
    joined: 'Beigetreten',
    sessions: 'Angemeldet',
    actions: 'Ändern',
  },
  you: 'Sie',
  roles: { owner: 'Eigentümer', member: 'Mitglied' },
  roleOf: (name) => `Rolle von ${name}`,
  remove: 'Entfernen',
  removeTitle: (name) => `${name} entfernen?`,
  removeHint:
    'Tokens und Sitzungen enden sofort, ebenso selbst verbundene Apps, und die Person wird von den Listen der Agenten genommen.',
  signOut: 'Überall abmelden',
  signedOut: (name, count) =>
    count === 1
      ? `${name} wurde in einem Browser abgemeldet.`
      : `${name} wurde in ${count} Browsern abgemeldet.`,
  invite: 'Jemanden einladen',
  email: 'E-Mail-Adresse',
  role: 'Rolle',
  roleHint: 'Eigentümer können auch Mitglieder entfernen und den Arbeitsbereich ändern.',
  submit: 'Einladung senden',
  invited: 'Einladung gesendet',
  invitedHint: (email) =>
    `Wenn der Dienst E-Mails senden kann, erhält ${email} diesen Link per E-Mail. Sie können ihn auch selbst weitergeben. Er lässt sich einmal benutzen, innerhalb von sieben Tagen.`,
  link: 'den Link',
  invitations: 'Offene Einladungen',
  noInvitations: 'Zurzeit ist niemand eingeladen.',
  invitationList: 'Einladungen, die noch nicht angenommen sind',
  expires: 'Gültig bis',
  revoke: 'Widerrufen',
}
