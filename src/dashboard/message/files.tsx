import { useState } from 'react'
import { useClient, useQuery } from 'urql'
import { failureOf } from '../live/failure.ts'
import { graphql } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog/dialog.tsx'
import { DownloadIcon, PaperclipIcon } from '../parts/icons.tsx'
import { Failed, Load, Loading } from '../parts/states.tsx'
import { say } from '../parts/toast.ts'
import type { ShownMessage } from './message-fields.ts'
import { text } from './strings.ts'

const LINKS = graphql(`
  query FileLinks($id: UUID!) { message(id: $id) { id rawLink { url } attachments { link { url } } } }
`)
const VIEWS = graphql(`
  query FileViews($id: UUID!) { message(id: $id) { id attachments { link(view: true) { url } } } }
`)

type File = ShownMessage['attachments'][number]

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

const TEXT = graphql(`
  query FileText($id: UUID!, $index: Int!, $offset: SafeInt!) {
    message(id: $id) { id attachment(index: $index) { text(offset: $offset) { text nextOffset } } }
  }
`)

const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif)$/i
/** Larger pictures are loaded when they are opened. */
const MOST_BYTES = 2_000_000
const MOST_PICTURES = 12

/** Whether the service lets browsers show it, and this one can. */
const isShown = ({ type }: File): boolean =>
  PICTURE.test(type) || (/^application\/pdf$/i.test(type) && navigator.pdfViewerEnabled)

/** Files of other types may have text: the service says why one has none. */
const mayHaveText = ({ type }: File): boolean => !/^(?:image|audio|video|font)\//i.test(type)

/** The text of a file from a place on, a page after the other. */
const TextFrom = ({ id, index, offset }: { id: string; index: number; offset: number }) => {
  const [isMore, setMore] = useState(false)
  const [{ data, error }] = useQuery({ query: TEXT, variables: { id, index, offset } })
  const page = data?.message.attachment?.text
  const failure = failureOf(error)
  if (!page) return failure ? <Failed failure={failure} /> : <Loading />
  return (
    <>
      <p className="file-text" dir="auto">
        {page.text || text.noFileText}
      </p>
      {page.nextOffset !== null &&
        (isMore ? (
          <TextFrom id={id} index={index} offset={page.nextOffset} />
        ) : (
          <Button onClick={() => setMore(true)}>{text.moreFileText}</Button>
        ))}
    </>
  )
}

const TextViewer = ({
  id,
  file,
  index,
  onClose,
}: {
  id: string
  file: File
  index: number
  onClose(): void
}) => (
  <Dialog title={file.name} onClose={onClose} wide>
    <TextFrom id={id} index={index} offset={0} />
  </Dialog>
)

const Viewer = ({ id, file, index, onClose }: { id: string; file: File; index: number; onClose(): void }) => {
  const download = useDownload(id)
  const views = useLive(VIEWS, { id }, [])
  return (
    <Dialog
      title={file.name}
      onClose={onClose}
      wide
      actions={
        <Button icon={DownloadIcon} onClick={() => void download(index)}>
          {text.download(file.name)}
        </Button>
      }
    >
      <Load from={views}>
        {({ message }) => {
          const url = message.attachments[index]?.link.url
          return PICTURE.test(file.type) ? (
            <img className="view-picture" src={url} alt={file.name} />
          ) : (
            <iframe className="view-pdf" title={file.name} src={url} referrerPolicy="no-referrer" />
          )
        }}
      </Load>
    </Dialog>
  )
}

/** Small pictures of a message at a glance. */
const Thumbnails = ({ message, onOpen }: { message: ShownMessage; onOpen(index: number): void }) => {
  const views = useLive(VIEWS, { id: message.id }, [])
  return (
    <div className="thumbnails">
      {message.attachments.map(({ name, type, size }, index) => {
        const url = views.data?.message.attachments[index]?.link.url
        return PICTURE.test(type) && size <= MOST_BYTES && index < MOST_PICTURES ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: attachments are known by their position
          <button key={index} type="button" aria-label={text.viewFile(name)} onClick={() => onOpen(index)}>
            {url && <img src={url} alt="" loading="lazy" />}
          </button>
        ) : null
      })}
    </div>
  )
}

const hasThumbnail = ({ type, size }: File): boolean => PICTURE.test(type) && size <= MOST_BYTES

export const Attachments = ({ message }: { message: ShownMessage }) => {
  const download = useDownload(message.id)
  const [viewed, setViewed] = useState<number | null>(null)
  const file = viewed === null ? undefined : message.attachments[viewed]
  const [read, setRead] = useState<number | null>(null)
  const readFile = read === null ? undefined : message.attachments[read]
  return (
    <>
      {message.attachments.some(hasThumbnail) && <Thumbnails message={message} onOpen={setViewed} />}
      <ul className="attachments" aria-label={text.attachments}>
        {message.attachments.map((one, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: attachments are known by their position
          <li key={index}>
            <button
              type="button"
              title={isShown(one) ? text.viewFile(one.name) : text.download(one.name)}
              onClick={() => (isShown(one) ? setViewed(index) : void download(index))}
            >
              <PaperclipIcon size={14} />
              <bdi>{one.name}</bdi>
              <span className="soft">{text.size(one.size)}</span>
              {!isShown(one) && <DownloadIcon size={14} />}
            </button>
            {mayHaveText(one) && (
              <button type="button" title={text.showFileText(one.name)} onClick={() => setRead(index)}>
                {text.asText}
              </button>
            )}
          </li>
        ))}
      </ul>
      {read !== null && readFile && (
        <TextViewer id={message.id} file={readFile} index={read} onClose={() => setRead(null)} />
      )}
      {viewed !== null && file && (
        <Viewer id={message.id} file={file} index={viewed} onClose={() => setViewed(null)} />
      )}
    </>
  )
}
