/** Services that count clicks or check links, with the hosts that links through them have: they themselves and those below. */
const HOSTS: Readonly<Record<string, string>> = {
  'sendgrid.net': 'SendGrid',
  'mandrillapp.com': 'Mandrill',
  'list-manage.com': 'Mailchimp',
  'mailchi.mp': 'Mailchimp',
  'mailgun.org': 'Mailgun',
  'awstrack.me': 'Amazon SES',
  'mjt.lu': 'Mailjet',
  'mailjet.com': 'Mailjet',
  'pstmrk.it': 'Postmark',
  'spgo.io': 'SparkPost',
  'sparkpostmail.com': 'SparkPost',
  'customeriomail.com': 'Customer.io',
  'klclick.com': 'Klaviyo',
  'klclick1.com': 'Klaviyo',
  'klclick2.com': 'Klaviyo',
  'klclick3.com': 'Klaviyo',
  'exct.net': 'Salesforce',
  'exacttarget.com': 'Salesforce',
  'sendibm1.com': 'Brevo',
  'sendibm2.com': 'Brevo',
  'sendibm3.com': 'Brevo',
  'sendibt2.com': 'Brevo',
  'sendibt3.com': 'Brevo',
  'hubspotlinks.com': 'HubSpot',
  'hubspotemail.net': 'HubSpot',
  'hs-sites.com': 'HubSpot',
  'intercom-mail.com': 'Intercom',
  'intercom-clicks.com': 'Intercom',
  'createsend.com': 'Campaign Monitor',
  'createsend1.com': 'Campaign Monitor',
  'cmail19.com': 'Campaign Monitor',
  'cmail20.com': 'Campaign Monitor',
  'mlsend.com': 'MailerLite',
  'mlsend2.com': 'MailerLite',
  'rs6.net': 'Constant Contact',
  'acemlna.com': 'ActiveCampaign',
  'acemlnb.com': 'ActiveCampaign',
  'activehosted.com': 'ActiveCampaign',
  'resend-clicks.com': 'Resend',
  'resend-links.com': 'Resend',
  'loops.email': 'Loops',
  'braze.com': 'Braze',
  'iterable.com': 'Iterable',
  'eloqua.com': 'Eloqua',
  'mktoweb.com': 'Marketo',
  'safelinks.protection.outlook.com': 'Microsoft Defender',
  'urldefense.com': 'Proofpoint',
  'urldefense.proofpoint.com': 'Proofpoint',
  'mimecastprotect.com': 'Mimecast',
  'linkprotect.cudasvc.com': 'Barracuda',
  'app.link': 'Branch',
  'onelink.me': 'AppsFlyer',
  'bit.ly': 'Bitly',
  't.co': 'X',
  'lnkd.in': 'LinkedIn',
}

/** What their links look like on the hosts of their customers. */
const PATHS: readonly (readonly [RegExp, string])[] = [
  [/^\/(?:ls|wf|ss)\/(?:click|c\/)/, 'SendGrid'],
  [/^\/c\/eJ[\w-]{20}/, 'Mailgun'],
  [/^\/CL0\/https?:/i, 'Amazon SES'],
  [/^\/track\/click\/\d/, 'Mandrill'],
  [/^\/e\/c\/eyJ/, 'Customer.io'],
  [/^\/f\/a\/[\w~-]{10}/, 'SparkPost'],
  [/^\/lnk\/[\w-]{10}/, 'Mailjet'],
  [/^\/Ctc\/\w/i, 'HubSpot'],
  [/^\/\?qs=[0-9a-f]{20}/, 'Salesforce'],
  [/^\/uni\/ss\/c\//, 'SendGrid'],
]

/** The name of the service that a link leads through; undefined if it leads through none that is known. */
export const trackerOf = ({ hostname, pathname, search }: URL): string | undefined => {
  const labels = hostname.split('.')
  for (let at = 0; at < labels.length - 1; at++) {
    const name = HOSTS[labels.slice(at).join('.')]
    if (name !== undefined) return name
  }
  return PATHS.find(([path]) => path.test(pathname + search))?.[1]
}
