/** Where mail programs, phones and Telegram would begin or go on with a link: `https://`, and the dots of a host. */
const SCHEME = /:\/\//g
const DOT = /(?<=[\p{L}\p{N}])\.(?=\p{L}{2,})/gu

/**
 * Returns a text in which nothing becomes a link where it is shown: `https[:]//example[.]com`. For texts of agents in messages of the
 * service, which may repeat what strangers wrote.
 */
export const defanged = (text: string): string => text.replace(SCHEME, '[:]//').replace(DOT, '[.]')
