import { useClient } from 'urql'
import { failureOf } from '../live/failure.ts'
import { graphql } from '../live/graphql.ts'
import { DownloadIcon, PaperclipIcon } from '../parts/icons.tsx'
import { say } from '../parts/toast.ts'
import type { ShownMessage } from './message-fields.ts'
import { text } from './strings.ts'

const LINKS = graphql(`
  query FileLinks($id: UUID!) { message(id: $id) { id rawLink { url } attachments { link { url } } } }
`)

/** Downloads an attachment of a message, or the mail as received. Links are asked for when they are used. */
export const useDownload = (id: string) => {
  const client = useClient()
  return async (index: number | 'raw'): Promise<void> => {
    const { data, error } = await client.query(LINKS, { id }, { requestPolicy: 'network-only' }).toPromise()
    const failure = failureOf(error)
    if (failure) say({ kind: 'failure', text: failure.message, requestId: failure.requestId })
    const link = index === 'raw' ? data?.message.rawLink : data?.message.attachments[index]?.link
    if (link) location.assign(link.url)
  }
}

export const Attachments = ({ message }: { message: ShownMessage }) => {
  const download = useDownload(message.id)
  return (
    <ul className="attachments" aria-label={text.attachments}>
      {message.attachments.map(({ name, size }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: attachments are known by their position
        <li key={index}>
          <button type="button" title={text.download(name)} onClick={() => void download(index)}>
            <PaperclipIcon size={14} />
            <span>{name}</span>
            <span className="soft">{text.size(size)}</span>
            <DownloadIcon size={14} />
          </button>
        </li>
      ))}
    </ul>
  )
}
