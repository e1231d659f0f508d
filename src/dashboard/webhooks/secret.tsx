import { ShowOnce } from '../parts/dialog/show-once.tsx'
import { Snippet, type Variant } from '../parts/snippet.tsx'
import { text } from './strings.ts'

const VERIFY: readonly Variant[] = [
  {
    name: 'Client package',
    code: `import { verifyWebhook } from '@agent-messaging/client'
const event = await verifyWebhook(request, process.env.WEBHOOK_SECRET)`,
  },
  {
    name: 'standardwebhooks',
    code: `import { Webhook } from 'standardwebhooks'
const event = new Webhook(process.env.WEBHOOK_SECRET).verify(body, headers)`,
  },
  {
    name: 'Python',
    code: `from standardwebhooks import Webhook
event = Webhook(os.environ["WEBHOOK_SECRET"]).verify(body, headers)`,
  },
]

/** A webhook's secret, which is shown only when it is created, with code that uses it. */
export const ShowSecret = ({ secret, hint, onClose }: { secret: string; hint: string; onClose(): void }) => (
  <ShowOnce title={text.secretTitle} hint={hint} value={secret} what={text.secret} onClose={onClose}>
    <Snippet label={text.verify} variants={VERIFY} />
  </ShowOnce>
)
