import { words } from '../parts/words.ts'

/** The words of the screen with the workspace's own domains. */
export const text = words('domains', {
  add: 'Add a domain',
  none: 'No domains of your own',
  noneHint:
    'On a domain of your own, agents have addresses like help@example.com. You publish some DNS records; this page shows which, and whether they were found.',
  name: 'Domain',
  nameHint: 'Such as example.com, or agents.example.com beside your other mail.',
  submit: 'Add',
  check: 'Check now',
  checked: 'Checked',
  neverChecked: 'Not checked yet',
  remove: 'Remove',
  removeTitle: (name: string) => `Remove ${name}?`,
  removeHint: 'Agents must have no addresses on it. You can then remove its DNS records.',
  states: { pending: 'Waiting for DNS', verified: 'Verified', broken: 'Broken' },
  stateHints: {
    pending:
      'Publish the required records at your DNS provider, then check. It can take some minutes until they are visible.',
    verified: 'Agents can have addresses on it. It is checked again every day.',
    broken: 'Its records are no longer right. Addresses on it still work, but no new ones can be added.',
  },
  catchAll: 'All other mail',
  catchAllHint: (name: string) => `Who gets mail to addresses at ${name} that no agent has.`,
  nobody: 'Nobody: it is refused',
  records: (name: string) => `DNS records of ${name}`,
  columns: { purpose: 'Record', name: 'Name', value: 'Value', state: 'Found' },
  purposes: { ownership: 'Ownership', mx: 'Receiving', dkim: 'Signing', spf: 'SPF', dmarc: 'DMARC' },
  optional: 'recommended',
  ok: 'Right',
  missing: 'Not found',
  wrong: 'Wrong',
  recordName: 'the name',
  recordValue: 'the value',
  priority: (priority: number) => `Priority ${priority}`,
})
