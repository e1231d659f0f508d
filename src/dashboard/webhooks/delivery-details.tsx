import { useQuery } from 'urql'
import { failureOf } from '../live/failure.ts'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog/dialog.tsx'
import { Failed, Loading } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { text } from './strings.ts'

// A list of deliveries with all of this would cost more than a query may.
const DELIVERY = graphql(`
  query DeliveryDetails($agentId: UUID!, $after: String) {
    agent(id: $agentId) {
      id
      webhooks {
        id
        deliveries(first: 1, after: $after) {
          edges {
            node {
              id
              request { url body headers { name value } }
              attempts { at ms status error answer { body headers { name value } } }
            }
          }
        }
      }
    }
  }
`)

type Data = ResultOf<typeof DELIVERY>
type Delivery = Data['agent']['webhooks'][number]['deliveries']['edges'][number]['node']

const RESEND = graphql(`
  mutation ResendDelivery($input: ResendDeliveryInput!) { resendDelivery(input: $input) { delivery { id } } }
`)

interface Header {
  name: string
  value: string
}

const Lines = ({ text: lines }: { text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
  <pre className="delivery-text" tabIndex={0}>
    {lines}
  </pre>
)

const Headers = ({ headers }: { headers: readonly Header[] }) => (
  <details>
    <summary>{text.headers}</summary>
    <Lines text={headers.map(({ name, value }) => `${name}: ${value}`).join('\n')} />
  </details>
)

const pretty = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

const Request = ({ request }: { request: NonNullable<Delivery['request']> }) => (
  <section className="stack">
    <div className="row between">
      <h3>{text.request}</h3>
      {request.body !== null && <CopyButton value={request.body} what={text.request} />}
    </div>
    <code>POST {request.url}</code>
    <Headers headers={request.headers} />
    {request.body === null ? <p className="hint">{text.noBody}</p> : <Lines text={pretty(request.body)} />}
  </section>
)

/** What came back is a stranger's text: it is shown as text only. */
const Attempt = ({ attempt, number }: { attempt: Delivery['attempts'][number]; number: number }) => (
  <li className="stack">
    <div className="row between">
      <h3>
        {text.attempt(number)}: {attempt.status ?? attempt.error ?? text.noAnswer}
      </h3>
      <span className="hint">
        <Time at={attempt.at} detailed /> · {text.took(attempt.ms)}
      </span>
    </div>
    {attempt.status !== null && attempt.error && <p className="hint">{attempt.error}</p>}
    {attempt.answer && (
      <>
        <Headers headers={attempt.answer.headers} />
        {attempt.answer.body && (
          <>
            <p className="hint">{text.answerBody}</p>
            <Lines text={attempt.answer.body} />
          </>
        )}
      </>
    )}
  </li>
)

interface DetailsProps {
  agentId: string
  webhookId: string
  id: string
  eventId: string
  /** The cursor of the delivery before it in the list; null for the first one. */
  after: string | null
  onClose(): void
}

const Content = ({ agentId, webhookId, id, after }: Omit<DetailsProps, 'eventId' | 'onClose'>) => {
  const [{ data, error }] = useQuery({ query: DELIVERY, variables: { agentId, after } })
  const failure = failureOf(error)
  if (failure) return <Failed failure={failure} />
  const webhook = data?.agent.webhooks.find((one) => one.id === webhookId)
  const delivery = webhook?.deliveries.edges.find(({ node }) => node.id === id)?.node
  if (!delivery) return <Loading />
  return (
    <>
      <ol className="stack">
        {delivery.attempts.map((attempt, index) => (
          <Attempt key={attempt.at} attempt={attempt} number={index + 1} />
        ))}
      </ol>
      {delivery.request && <Request request={delivery.request} />}
    </>
  )
}

/** A test is no event: instead of sending it again, a new one is sent. */
const isTest = (eventId: string): boolean => eventId.startsWith('test_')

/** One delivery: what was sent, what each attempt got back, and a button that sends it again. */
export const DeliveryDetails = ({ eventId, onClose, ...content }: DetailsProps) => {
  const { agentId, webhookId, id } = content
  const { run, busy } = useAction(RESEND, { changes: { topic: 'webhooks', agentId } })
  const resend = async () => {
    if (await run({ input: { agentId, webhookId, deliveryId: id } })) onClose()
  }
  return (
    <Dialog
      wide
      title={text.delivery(eventId.split('_').at(-1) ?? '')}
      onClose={onClose}
      actions={
        !isTest(eventId) && (
          <Button kind="primary" busy={busy} onClick={() => void resend()}>
            {text.again}
          </Button>
        )
      }
    >
      <Content {...content} />
    </Dialog>
  )
}
