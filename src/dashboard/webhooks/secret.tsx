import { Button } from '../parts/button.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog/dialog.tsx'
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
  <Dialog
    wide
    title={text.secretTitle}
    onClose={onClose}
    actions={
      <Button kind="primary" onClick={onClose}>
        {text.done}
      </Button>
    }
  >
    <p>{hint}</p>
    <p>
      <Copyable value={secret} what={text.secret} />
    </p>
    <Snippet label={text.verify} variants={VERIFY} />
  </Dialog>
)
