import { useRef, useState } from 'react'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction, useLive } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/form/field.tsx'
import { Form } from '../parts/form.tsx'
import { ClockIcon } from '../parts/icons.tsx'
import { dropKept, type Kept, keep, keptOf, readKept } from '../parts/kept.ts'
import { Empty, Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { text } from './strings.ts'

const QUESTIONS = graphql(`
  query Questions {
    workspace { id questions { id text options createdAt expiresAt agent { id name } } }
  }
`)

const ANSWER = graphql(`
  mutation AnswerQuestion($input: AnswerQuestionInput!) { answerQuestion(input: $input) { question { id status } } }
`)

type Question = ResultOf<typeof QUESTIONS>['workspace']['questions'][number]

interface Answering {
  busy: boolean
  /** Resolves with whether the answer counts. */
  answer(words: string): Promise<boolean>
}

/** Answers a question. If somebody else was first, the API says who. */
const useAnswer = ({ id, agent }: Question) => {
  const { run, busy } = useAction(ANSWER)
  const [given, setGiven] = useState<string | null>(null)
  const answer = async (words: string): Promise<boolean> => {
    const done = await run({ input: { agentId: agent.id, questionId: id, text: words } })
    announce([{ topic: 'questions', agentId: agent.id, ids: [id] }])
    if (done) setGiven(words)
    return done !== null
  }
  return { given, busy, answer }
}

interface KeptAnswer extends Kept {
  text: string
}

/** An answer in words, kept on this device at each key. */
const InWords = ({ question, answer, busy }: Answering & { question: Question }) => {
  const name = keptOf(useViewer(), 'answer', question.id)
  const [words, setWords] = useState(() => readKept<KeptAnswer>(name)?.text ?? '')
  const change = (given: string) => {
    setWords(given)
    const kept: KeptAnswer = { text: given, at: Date.now() }
    keep(name, kept)
  }
  const submit = async () => {
    if (await answer(words)) dropKept(name)
  }
  return (
    <Form onSubmit={submit}>
      <TextField
        label={text.yourAnswer}
        value={words}
        onChange={(event) => change(event.target.value)}
        rows={3}
        maxLength={2_000}
        required
      />
      <Button kind="primary" submit busy={busy}>
        {text.answer}
      </Button>
    </Form>
  )
}

const Options = ({ options, answer, busy }: Answering & Pick<Question, 'options'>) => (
  <div className="row">
    {options.map((option) => (
      <Button key={option} busy={busy} onClick={() => void answer(option)}>
        <bdi>{option}</bdi>
      </Button>
    ))}
  </div>
)

interface Seen {
  question: Question
  isOpen: boolean
}

/** A question, in the words of the agent: they are data, and nothing in them becomes a link. */
const Asked = ({ question, isOpen }: Seen) => {
  const { agent, options, createdAt, expiresAt } = question
  const { given, ...answering } = useAnswer(question)
  const name = text.asks(agent.name)
  return (
    // The focus goes to it, and not to a button: whoever presses Enter once more answers nothing else.
    <article className="question panel" aria-label={name} tabIndex={-1}>
      <header className="row between">
        <h2>{name}</h2>
        <Time at={createdAt} />
      </header>
      <p className="held-text" dir="auto">
        {question.text}
      </p>
      {given !== null || !isOpen ? (
        <p className="soft" role="status">
          {given === null ? text.over : text.youAnswered} <bdi>{given}</bdi>
        </p>
      ) : (
        <>
          {options.length > 0 ? (
            <Options options={options} {...answering} />
          ) : (
            <InWords question={question} {...answering} />
          )}
          <p className="hint">
            {text.openUntil} <Time at={expiresAt} detailed />
          </p>
        </>
      )}
    </article>
  )
}

/** Those that have ended stay in their place, so that none moves under the pointer of who is about to answer it. */
const List = ({ questions }: { questions: readonly Question[] }) => {
  const seen = useRef(new Map<string, Question>()).current
  for (const question of questions) seen.set(question.id, question)
  if (seen.size === 0)
    return (
      <Empty icon={ClockIcon} title={text.noQuestion}>
        <p>{text.questionsHint}</p>
      </Empty>
    )
  return (
    <div className="questions">
      {[...seen.values()].map((question) => (
        <Asked
          key={question.id}
          question={question}
          isOpen={questions.some(({ id }) => id === question.id)}
        />
      ))}
    </div>
  )
}

/** What agents ask the member, oldest first. */
export const Questions = () => (
  <Load from={useLive(QUESTIONS, {}, ['questions'])}>
    {({ workspace }) => <List questions={workspace.questions} />}
  </Load>
)
