import type { SnsMessage } from './sns.ts'

/** `arn:partition:sns:region:account:name` */
const TOPIC = /^arn:(aws[a-z-]{0,20}):sns:([a-z0-9-]{1,40}):/

/** Amazon SNS's own host in the topic's region, and the domain that the region belongs to. */
const hostsOf = (topicArn: string): { region: string; domain: string; host: string } | null => {
  const [, partition = '', region = ''] = TOPIC.exec(topicArn) ?? []
  if (region === '') return null
  const domain = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com'
  return { region, domain, host: `sns.${region}.${domain}` }
}

const CERTIFICATE_PATH = /^\/SimpleNotificationService-[0-9a-f]{8,64}\.pem$/

/**
 * Whether a URL is, to the letter, that of a signing certificate at the topic's own region. Its host alone
 * would prove nothing: with another path or with a query, the same host answers with text that whoever asks
 * has chosen.
 */
export const isCertificateUrl = (url: string, topicArn: string): boolean => {
  const origin = `https://${hostsOf(topicArn)?.host}`
  return url.startsWith(`${origin}/`) && CERTIFICATE_PATH.test(url.slice(origin.length))
}

/**
 * The names that Amazon gives its signing certificates: one for most regions, others for China, GovCloud and
 * the newer regions.
 */
export const certificateNames = (topicArn: string): string[] => {
  const hosts = hostsOf(topicArn)
  if (!hosts) return []
  const { region, domain, host } = hosts
  return [`sns.${domain}`, host, `sns-${region}.${domain}`, `sns-signing.${region}.${domain}`]
}

/** Whether a URL confirms the subscription that the message is about, and does nothing else. */
export const isConfirmation = (url: string, { TopicArn, Token }: SnsMessage): boolean => {
  const origin = `https://${hostsOf(TopicArn)?.host}`
  if (url.length > 2048 || !url.startsWith(`${origin}/?`) || !Token) return false
  const query = [...new URLSearchParams(url.slice(origin.length + 2))].sort(([a], [b]) => (a < b ? -1 : 1))
  const expected = [
    ['Action', 'ConfirmSubscription'],
    ['Token', Token],
    ['TopicArn', TopicArn],
  ]
  return !url.includes('#') && JSON.stringify(query) === JSON.stringify(expected)
}
