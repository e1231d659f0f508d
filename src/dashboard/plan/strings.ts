/** The words of the screen with the plan and what it is used for. */
export const text = {
  plan: (key: string) => `The plan ${key}`,
  list: 'What the plan includes, and how much is used',
  columns: { what: 'What', used: 'Used', limit: 'Included', share: 'Share' },
  kinds: {
    agents: 'Agents',
    members: 'Members',
    storedMessages: 'Stored messages',
    sendsPerDay: 'Messages sent today',
    webhooks: 'Webhooks',
    phoneNumbers: 'Phone numbers',
    ownDomains: 'Own domains',
  },
  unlimited: 'no limit',
  changeAddress: 'Agents’ email addresses can be changed.',
  fixedAddress: 'Agents’ email addresses cannot be changed on this plan.',
  full: 'Full',
}
