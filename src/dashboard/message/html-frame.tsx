import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { composeHref, otherHost } from './links.ts'
import { text } from './strings.ts'

/** A mail higher than this scrolls in its frame. */
const MOST_HEIGHT = 32_000
/** A mail whose height depends on that of its frame would grow for ever. */
const MOST_CHANGES = 100
/** Links that do not lead where they say; of a newsletter, more would say nothing. */
const MOST_LINKS = 5

interface Misleading {
  words: string
  host: string
}

const misleadingIn = (mail: Document): Misleading[] => {
  const found = new Map<string, Misleading>()
  for (const link of mail.querySelectorAll<HTMLAnchorElement | HTMLAreaElement>('a[href], area[href]')) {
    // biome-ignore lint/performance/useDomNodeTextContent: as it is seen, without what is hidden
    const words = link.innerText.trim().slice(0, 200)
    const host = otherHost(words, link.href)
    if (host) found.set(`${words} ${host}`, { words, host })
    if (found.size === MOST_LINKS) break
  }
  return [...found.values()]
}

/** Gives a key that was pressed in the mail to the application, which has no other way to hear it. */
const passOn = (frame: HTMLIFrameElement, event: KeyboardEvent): void => {
  const { key, code, ctrlKey, metaKey, shiftKey, altKey, isComposing } = event
  const modifiers = { ctrlKey, metaKey, shiftKey, altKey, isComposing }
  const copy = new KeyboardEvent('keydown', { key, code, ...modifiers, bubbles: true, cancelable: true })
  if (!frame.dispatchEvent(copy)) event.preventDefault()
}

/** The height of a frame that shows all of a mail: what stands out of it, its scroll bar at the bottom, the border. */
const heightOf = (frame: HTMLIFrameElement, mail: Document): number => {
  const { documentElement: root, body } = mail
  const around = Math.max(0, frame.offsetHeight - root.clientHeight)
  return Math.min(MOST_HEIGHT, Math.max(root.offsetHeight, body.scrollHeight) + around)
}

/** Keeps a frame as high as the mail in it: pictures arrive, and the window changes. Returns what ends this. */
const followHeight = (frame: HTMLIFrameElement, mail: Document): (() => void) => {
  let changes = 0
  const measure = (): void => {
    const height = heightOf(frame, mail)
    mail.documentElement.style.overflowY = height < MOST_HEIGHT ? 'hidden' : ''
    if (`${height}px` === frame.style.height || changes++ > MOST_CHANGES) return
    frame.style.height = `${height}px`
  }
  const observer = new ResizeObserver(measure)
  observer.observe(mail.documentElement)
  observer.observe(mail.body)
  // A wider window starts over.
  const onResize = (): void => {
    changes = 0
    measure()
  }
  addEventListener('resize', onResize)
  measure()
  return () => {
    observer.disconnect()
    removeEventListener('resize', onResize)
  }
}

/** A new signed link to the same page does not load the mail again. */
const useSame = (url: string): string => {
  const [shown, setShown] = useState(url)
  const isSame = new URL(shown).pathname === new URL(url).pathname
  if (!isSame) setShown(url)
  return isSame ? shown : url
}

interface FrameProps {
  url: string
  title: string
  agentId: string
}

/**
 * A mail's page in its sandbox. It runs no script and sends no form; it has this page's origin so that its height
 * can be measured and its keys be heard. A browser that says nothing of what it loads gets it without an origin:
 * the frame then has a fixed height.
 */
export const HtmlFrame = ({ url, title, agentId }: FrameProps) => {
  const src = useSame(url)
  const frame = useRef<HTMLIFrameElement>(null)
  const stop = useRef<() => void>(undefined)
  const [misleading, setMisleading] = useState<Misleading[]>([])
  const [, go] = useLocation()
  useEffect(() => () => stop.current?.(), [])
  const onClick = (event: MouseEvent): void => {
    const target = event.target as Partial<Element> | null
    const link = target?.closest?.('a[href^="mailto:" i]') as HTMLAnchorElement | null | undefined
    if (!link || !URL.canParse(link.href)) return
    event.preventDefault()
    go(composeHref(link.href, agentId))
  }
  const onLoad = (): void => {
    const mail = frame.current?.contentDocument
    stop.current?.()
    if (!frame.current || !mail?.body) return
    const shown = frame.current
    stop.current = followHeight(shown, mail)
    mail.addEventListener('keydown', (event) => passOn(shown, event))
    mail.addEventListener('click', onClick)
    mail.addEventListener('auxclick', onClick)
    setMisleading(misleadingIn(mail))
  }
  return (
    <>
      {misleading.length > 0 && (
        <ul className="misleading">
          {misleading.map(({ words, host }) => (
            <li key={`${words} ${host}`}>{text.leadsTo(words, host)}</li>
          ))}
        </ul>
      )}
      <iframe
        ref={frame}
        title={title}
        sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
        referrerPolicy="no-referrer"
        src={src}
        onLoad={onLoad}
      />
    </>
  )
}
