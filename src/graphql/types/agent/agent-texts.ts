import { type Template as TemplateShape, textsOf } from '../../../agent/index.ts'
import { builder } from '../../builder/builder.ts'
import { counted } from '../../context/limits.ts'
import { Agent } from './agent.ts'

const Template = builder.objectRef<TemplateShape>('Template').implement({
  description: 'A text to answer with.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    text: t.string({
      description: 'The text.',
      resolve: ({ text }, _args, context) => counted(context, text),
    }),
  }),
})

builder.prismaObjectFields(Agent, (t) => ({
  signature: t.string({
    nullable: true,
    select: { texts: { select: { signature: true } } },
    description:
      'What the web application puts below what people write for the agent; null if there is none. The service does not add it to messages.',
    resolve: ({ texts }, _args, context) => counted(context, texts?.signature ?? null),
  }),
  templates: t.field({
    type: [Template],
    // Fifty texts of 10,000 characters, as the notes on a thread: of 48 agents in one operation.
    complexity: { field: 500, multiplier: 10 },
    select: { texts: true },
    description: 'Texts to answer with: at most 50, in the order in which they were set.',
    resolve: ({ texts }) => textsOf(texts).templates,
  }),
}))
