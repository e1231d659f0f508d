import { useState } from 'react'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction, useLive } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/form/field.tsx'
import { ClockIcon } from '../parts/icons.tsx'
import { dropKept, type Kept, keep, keptOf, readKept } from '../parts/kept.ts'
import { Empty, Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { say } from '../parts/toast.ts'
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

/** Answers a question. If somebody else was first, the API says who. */
const useAnswer = ({ id, agent }: Question) => {
  const { run, busy } = useAction(ANSWER)
  return {
    busy,
    answer: async (words: string): Promise<boolean> => {
      const done = await run({ input: { agentId: agent.id, questionId: id, text: words } })
      announce([{ topic: 'questions', agentId: agent.id, ids: [id] }])
      if (done) say({ kind: 'done', text: text.answered })
      return done !== null
    },
  }
}

interface KeptAnswer extends Kept {
  text: string
}

/** An answer in words, kept on this device at each key. */
const InWords = ({ question }: { question: Question }) => {
  const { answer, busy } = useAnswer(question)
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
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
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
    </form>
  )
}

const Options = ({ question }: { question: Question }) => {
  const { answer, busy } = useAnswer(question)
  return (
    <div className="row">
      {question.options.map((option) => (
        <Button key={option} busy={busy} onClick={() => void answer(option)}>
          {option}
        </Button>
      ))}
    </div>
  )
}

/** A question, in the words of the agent: they are data, and nothing in them becomes a link. */
const Asked = ({ question }: { question: Question }) => {
  const { agent, options, createdAt, expiresAt } = question
  const name = text.asks(agent.name)
  return (
    <article className="question panel" aria-label={name}>
      <header className="row between">
        <h2>{name}</h2>
        <Time at={createdAt} />
      </header>
      <p className="held-text" dir="auto">
        {question.text}
      </p>
      {options.length > 0 ? <Options question={question} /> : <InWords question={question} />}
      <p className="hint">
        {text.openUntil} <Time at={expiresAt} detailed />
      </p>
    </article>
  )
}

/** What agents ask the member, oldest first. */
export const Questions = () => {
  const loaded = useLive(QUESTIONS, {}, ['questions'])
  return (
    <Load from={loaded}>
      {({ workspace: { questions } }) =>
        questions.length > 0 ? (
          <div className="questions">
            {questions.map((question) => (
              <Asked key={question.id} question={question} />
            ))}
          </div>
        ) : (
          <Empty icon={ClockIcon} title={text.noQuestion}>
            <p>{text.questionsHint}</p>
          </Empty>
        )
      }
    </Load>
  )
}
