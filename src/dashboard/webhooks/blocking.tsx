import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { Time } from '../parts/time.tsx'
import { say } from '../parts/toast.ts'
import type { BlockedWebhook } from './query.ts'
import { text } from './strings.ts'
import './webhooks.css'

const UNBLOCK = graphql(`
  mutation UnblockWebhook($input: UnblockWebhookInput!) { unblockWebhook(input: $input) { webhook { id retryAt } } }
`)

/** Enough of an answer to see what it is about; the delivery shows the whole of it. */
const SHOWN = 400

type Attempt = NonNullable<BlockedWebhook['blocking']>['attempts'][number]

/** What came back is a stranger's text: it is shown as text only. */
const Answer = ({ attempt }: { attempt: Attempt }) => (
  <>
    <p>
      {text.lastAnswer} (<Time at={attempt.at} />, {text.took(attempt.ms)}):{' '}
      <strong>{attempt.status ?? attempt.error ?? text.noAnswer}</strong>
    </p>
    {attempt.answer?.body && (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
      <pre className="delivery-text" tabIndex={0}>
        {attempt.answer.body.slice(0, SHOWN)}
      </pre>
    )}
  </>
)

/** Why a webhook stands still, and what ends it. */
export const Blocking = ({ webhook }: { webhook: BlockedWebhook }) => {
  const { id, agentId, pausedAt, retryAt, blocking } = webhook
  const [skipping, setSkipping] = useState(false)
  const { run, busy } = useAction(UNBLOCK)
  if (!blocking) return null
  const last = blocking.attempts.at(-1)
  const unblock = async (skip: boolean): Promise<boolean> => {
    const done = await run({ input: { agentId, webhookId: id, deliveryId: blocking.id, skip } })
    announce([{ topic: 'webhooks', agentId }])
    if (done) say({ kind: 'done', text: skip ? text.skipped : text.sentAgain })
    return done !== null
  }
  return (
    <section className="blocking" aria-label={text.blocking}>
      <p>
        {text.blockedBy(blocking.eventId.split('_').at(-1) ?? '', blocking.attempts.length)} {text.happened}{' '}
        <Time at={blocking.createdAt} />.
      </p>
      {last && <Answer attempt={last} />}
      {retryAt && !pausedAt && (
        <p className="hint">
          {text.next} <Time at={retryAt} />.
        </p>
      )}
      {!pausedAt && (
        <div className="row">
          <Button busy={busy} onClick={() => void unblock(false)}>
            {text.tryNow}
          </Button>
          <Button kind="danger" onClick={() => setSkipping(true)}>
            {text.skip}
          </Button>
        </div>
      )}
      {skipping && (
        <Confirm
          title={text.skipTitle}
          label={text.skip}
          onConfirm={() => unblock(true)}
          onClose={() => setSkipping(false)}
        >
          <p>{text.skipHint}</p>
        </Confirm>
      )}
    </section>
  )
}
