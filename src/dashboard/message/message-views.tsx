import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Load } from '../parts/states.tsx'
import { Codes } from './codes.tsx'
import { HtmlFrame } from './html-frame.tsx'
import { LinkedText } from './linked-text.tsx'
import type { ShownMessage } from './message-fields.ts'
import './message.css'
import { text } from './strings.ts'

/** The text without what it quotes, which a button adds. */
export const TextView = ({ message }: { message: ShownMessage }) => {
  const [whole, setWhole] = useState(false)
  const reply = message.replyText.trim()
  const all = message.text.trim()
  const folds = message.direction === 'inbound' && reply !== '' && reply !== all
  const shown = folds && !whole ? reply : all
  return (
    <>
      <div className={shown ? 'message-text' : 'message-text soft'} dir="auto">
        {shown ? <LinkedText text={shown} agentId={message.agent.id} /> : text.noText}
      </div>
      <Codes of={message.codes} />
      {folds && (
        <Button kind="ghost" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? text.hideQuoted : text.quoted}
        </Button>
      )}
    </>
  )
}

const HTML = graphql(`
  query MessageHtml($id: UUID!, $images: Boolean!) {
    message(id: $id) { id blockedImages htmlLink(remoteImages: $images) { url } }
  }
`)

/**
 * The mail's HTML, sanitized by the service, in a frame that runs no script and loads nothing from elsewhere. Its
 * links open in a new tab.
 */
export const HtmlView = ({
  message,
}: {
  message: Pick<ShownMessage, 'agent' | 'counterpart' | 'id'> & Partial<Pick<ShownMessage, 'counterpartName'>>
}) => {
  const [images, setImages] = useState(false)
  const html = useLive(HTML, { id: message.id, images }, [])
  return (
    <Load from={html}>
      {({ message: { htmlLink, blockedImages } }) =>
        htmlLink ? (
          <div className="html-view">
            {blockedImages > 0 && !images && (
              <p className="html-images">
                <span>
                  {text.blocked(blockedImages)} <span className="soft">{text.imagesHint}</span>
                </span>
                <Button onClick={() => setImages(true)}>{text.showImages}</Button>
              </p>
            )}
            <HtmlFrame
              url={htmlLink.url}
              title={text.frame(message.counterpartName ?? message.counterpart)}
              agentId={message.agent.id}
            />
          </div>
        ) : (
          <p className="soft">{text.noHtml}</p>
        )
      }
    </Load>
  )
}

const HEADERS = graphql(`query MessageHeaders($id: UUID!) { message(id: $id) { id headers { name value } } }`)

export const HeadersView = ({ message }: { message: ShownMessage }) => (
  <Load from={useLive(HEADERS, { id: message.id }, [])}>
    {({ message: { headers } }) => (
      <dl className="headers-view" aria-label={text.headers}>
        {headers.map(({ name, value }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: fields are known by their position
          <div key={index}>
            <dt>{name}</dt>
            <dd dir="auto">{value}</dd>
          </div>
        ))}
      </dl>
    )}
  </Load>
)
