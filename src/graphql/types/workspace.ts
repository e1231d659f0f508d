import { builder } from '../builder.ts'

export const Workspace = builder.prismaObject('Workspace', {
  description: 'A tenant: its members and agents. Nothing crosses its border.',
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Its id.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  }),
})
