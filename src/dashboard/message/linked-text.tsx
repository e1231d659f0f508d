import { Fragment, useMemo } from 'react'
import { Link } from 'wouter'
import { composeHref, linksIn, otherHost, type Part } from './links.ts'

const TextLink = ({ text, href, agentId }: Required<Part> & { agentId: string }) => {
  if (href.startsWith('mailto:')) return <Link href={composeHref(href, agentId)}>{text}</Link>
  const host = otherHost(text, href)
  return (
    <>
      <a href={href} target="_blank" rel="noopener noreferrer">
        {text}
      </a>
      {host && <span className="link-host"> [{host}]</span>}
    </>
  )
}

/** A text that somebody wrote, whose links work: to the web in a new tab, to an address in a letter of the agent. */
export const LinkedText = ({ text, agentId }: { text: string; agentId: string }) => {
  const parts = useMemo(() => linksIn(text), [text])
  return parts.map(({ text: words, href }, index) =>
    href ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text are known by their order
      <TextLink key={index} text={words} href={href} agentId={agentId} />
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text are known by their order
      <Fragment key={index}>{words}</Fragment>
    ),
  )
}
