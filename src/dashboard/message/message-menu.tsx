import { useState } from 'react'
import { useLocation } from 'wouter'
import { Button } from '../parts/button.tsx'
import { copyText } from '../parts/copy.tsx'
import { ActivityIcon, CopyIcon, DownloadIcon, ForwardIcon, Trash2Icon } from '../parts/icons.tsx'
import { Menu } from '../parts/menu.tsx'
import { say } from '../parts/toast.ts'
import { DeleteMessage } from './delete-message.tsx'
import { useDownload } from './files.tsx'
import type { ShownMessage } from './message-fields.ts'
import { text } from './strings.ts'

/** What else can be done with a message. */
export const MessageMenu = ({ message, onForward }: { message: ShownMessage; onForward(): void }) => {
  const download = useDownload(message.id)
  const [, go] = useLocation()
  const [deleting, setDeleting] = useState(false)
  const isReceivedMail = message.channel === 'email' && message.direction === 'inbound'
  const copyId = () =>
    void copyText(message.id).then((isCopied) => isCopied && say({ kind: 'done', text: text.copied }))
  return (
    <>
      <Menu label={text.more}>
        <Button kind="ghost" icon={ForwardIcon} onClick={onForward}>
          {text.forward}
        </Button>
        {isReceivedMail && (
          <Button kind="ghost" icon={DownloadIcon} onClick={() => void download('raw')}>
            {text.raw}
          </Button>
        )}
        <Button kind="ghost" icon={CopyIcon} onClick={copyId}>
          {text.copyId}
        </Button>
        <Button kind="ghost" icon={ActivityIcon} onClick={() => go(`/health/trace?of=${message.id}`)}>
          {text.happened}
        </Button>
        <Button kind="ghost" icon={Trash2Icon} onClick={() => setDeleting(true)}>
          {text.deletion.do}
        </Button>
      </Menu>
      {deleting && <DeleteMessage message={message} onClose={() => setDeleting(false)} />}
    </>
  )
}
