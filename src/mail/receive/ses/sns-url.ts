/** `arn:partition:sns:region:account:name` */
const TOPIC = /^arn:(aws[a-z-]{0,20}):sns:([a-z0-9-]{1,40}):/

/** The Amazon SNS endpoint in the topic's region, and the parent domain of the region. */
const hostsOf = (topicArn: string): { region: string; domain: string; host: string } | null => {
  const [, partition = '', region = ''] = TOPIC.exec(topicArn) ?? []
  if (region === '') return null
  const domain = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com'
  return { region, domain, host: `sns.${region}.${domain}` }
}

const CERTIFICATE_PATH = /^\/SimpleNotificationService-[0-9a-f]{8,64}\.pem$/

/**
 * Whether a URL is exactly that of a signing certificate in the topic's region. Checking the host alone is
 * not enough: with another path or a query, the same host can respond with text chosen by the requester.
 */
export const isCertificateUrl = (url: string, topicArn: string): boolean => {
  const origin = `https://${hostsOf(topicArn)?.host}`
  return url.startsWith(`${origin}/`) && CERTIFICATE_PATH.test(url.slice(origin.length))
}

/**
 * The host names in Amazon's signing certificates: one for most regions, others for China, GovCloud and newer
 * regions.
 */
export const certificateNames = (topicArn: string): string[] => {
  const hosts = hostsOf(topicArn)
  if (!hosts) return []
  const { region, domain, host } = hosts
  return [`sns.${domain}`, host, `sns-${region}.${domain}`, `sns-signing.${region}.${domain}`]
}

/** Whether a URL confirms this message's subscription and does nothing else. */
export const isConfirmation = (
  url: string,
  { TopicArn, Token }: { TopicArn: string; Token?: string },
): boolean => {
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
