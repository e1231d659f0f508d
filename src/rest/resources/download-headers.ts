/**
 * A media type in the syntax of RFC 9110, with no parameter but its charset. Anything else comes from an
 * untrusted sender and is not passed on.
 */
const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}(?:; charset=[\w.:+-]{1,40})?$/i

/**
 * Headers for an untrusted file: always a download, never displayed, with no type but its own. The name is
 * given in both forms of RFC 6266, so that every client understands one of them.
 */
export const attachmentHeaders = (name: string, type: string): Record<string, string> => {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return {
    'Content-Type': MEDIA_TYPE.test(type) ? type : 'application/octet-stream',
    'Content-Disposition': `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "sandbox; default-src 'none'",
  }
}

/** What browsers show without running anything of it in the page's place: no HTML, no SVG, no XML. */
const SHOWN = /^(?:image\/(?:png|jpeg|gif|webp|avif)|application\/pdf)$/i

/**
 * Headers for an untrusted picture or PDF that the browser shows itself. Anything else is a download. Browsers
 * show no PDF in a sandbox; their viewer gives it neither the page nor its origin.
 */
export const viewHeaders = (name: string, type: string): Record<string, string> => {
  const headers = attachmentHeaders(name, type)
  if (!SHOWN.test(type)) return headers
  const isPdf = /pdf$/i.test(type)
  return {
    ...headers,
    'Content-Disposition': headers['Content-Disposition']!.replace(/^attachment/, 'inline'),
    'Content-Security-Policy': isPdf
      ? "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"
      : "sandbox; default-src 'none'; frame-ancestors 'self'",
    'Cross-Origin-Resource-Policy': 'same-origin',
  }
}
