import { type Command, given, repeated, valued } from './command.ts'
import { NONE_CAME, UsageError } from './terminal/failure.ts'
import { oneLine, printable, printableJson } from './terminal/terminal.ts'

const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** `90s`, `10m`, `2h` or `3d` in seconds. */
const secondsIn = (duration: string): number => {
  const [, count, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(duration) ?? []
  if (count === undefined) throw new UsageError('--expires must be a duration such as 10m, 2h or 3d.')
  return Number(count) * UNITS[unit as keyof typeof UNITS]
}

export const ask: Command = {
  usage: 'ask [--option TEXT]... [--seconds N] QUESTION',
  summary: 'ask members a question, and print the answer',
  options: {
    option: repeated('TEXT', 'an answer to choose from'),
    to: repeated('ID', 'a member who may answer; by default all'),
    expires: valued('TIME', 'how long it can be answered, as 10m, 2h or 3d; a day by default'),
    seconds: valued('N', 'how long to wait; by default until the question ends'),
  },
  examples: [
    'ams ask --option Yes --option No "Refund 80 EUR to Ann?"',
    'ams ask --expires 2h "Which address?"',
  ],
  run: async (input) => {
    const text = input.required(0, 'QUESTION')
    input.atMost(1)
    const expires = input.text('expires')
    const asked = given({
      options: input.texts('option'),
      to: input.texts('to'),
      expiresIn: expires === undefined ? undefined : secondsIn(expires),
      seconds: input.text('seconds') === undefined ? undefined : input.integer('seconds', 0),
    })
    const { agent } = await input.open()
    const question = await agent.ask(text, asked)
    if (input.json) input.terminal.out(printableJson(question))
    else if (question.answer) input.terminal.out(printable(question.answer.text))
    else input.terminal.note(`ams: no answer: the question ${oneLine(question.id)} is ${question.status}`)
    return question.answer ? undefined : NONE_CAME
  },
}
