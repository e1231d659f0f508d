import { type Template as TemplateShape, textsOf } from '../../agent/texts.ts'
import { builder } from '../builder.ts'
import { Agent } from './agent.ts'

const Template = builder.objectRef<TemplateShape>('Template').implement({
  description: 'A text to answer with.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    text: t.exposeString('text', { description: 'The text.' }),
  }),
})

builder.prismaObjectFields(Agent, (t) => ({
  signature: t.string({
    nullable: true,
    select: { texts: { select: { signature: true } } },
    description:
      'What the web application puts below what people write for the agent; null if there is none. The service adds it to nothing by itself.',
    resolve: ({ texts }) => texts?.signature ?? null,
  }),
  templates: t.field({
    type: [Template],
    complexity: { field: 10, multiplier: 10 },
    select: { texts: true },
    description: 'Texts to answer with: at most 50, in the order in which they were set.',
    resolve: ({ texts }) => textsOf(texts).templates,
  }),
}))
