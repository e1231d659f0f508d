import type { Schema } from 'hast-util-sanitize'
import { names } from '../parse/html/values.ts'

/** Elements whose content is not text of the mail. */
const DROPPED = names(`
  script style title template noscript iframe noembed noframes object applet svg math audio video canvas textarea
  select xmp plaintext datalist`)

const KEPT = names(`
  a abbr b bdi bdo big br cite code del dfn em font i ins kbd mark q rp rt ruby s samp small span strike strong sub
  sup time tt u var wbr img
  address article aside blockquote center dd details dir div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header
  hr li main nav ol p pre section summary ul
  caption col colgroup table tbody td tfoot th thead tr`)

/**
 * What is kept of a mail's HTML. Ids and names are not: they would be targets of the page around it. URLs and
 * styles were made safe before.
 */
export const SCHEMA: Schema = {
  tagNames: [...KEPT],
  strip: [...DROPPED],
  attributes: {
    '*': ['className', 'style', 'dir', 'lang', 'title', 'align', 'vAlign', 'width', 'height', 'bgColor'],
    a: ['href', 'target', 'rel'],
    img: ['src', 'alt', 'border', 'hSpace', 'vSpace'],
    font: ['color', 'face', 'size'],
    table: ['border', 'cellPadding', 'cellSpacing', 'background', 'summary'],
    td: ['colSpan', 'rowSpan', 'noWrap', 'background'],
    th: ['colSpan', 'rowSpan', 'noWrap', 'background', 'scope'],
    col: ['span'],
    colgroup: ['span'],
    hr: ['color', 'noShade', 'size'],
    ol: ['start', 'type', 'reversed'],
    ul: ['type'],
    li: ['value', 'type'],
    details: ['open'],
    time: ['dateTime'],
  },
  protocols: {
    href: ['http', 'https', 'mailto', 'tel'],
    src: ['data', 'https'],
    background: ['data', 'https'],
  },
}

/** The same without attributes that contain text which no reader sees. */
export const OUTGOING_SCHEMA: Schema = {
  ...SCHEMA,
  attributes: {
    ...SCHEMA.attributes,
    '*': SCHEMA.attributes!['*']!.filter((name) => name !== 'title'),
    table: SCHEMA.attributes!.table!.filter((name) => name !== 'summary'),
  },
}
