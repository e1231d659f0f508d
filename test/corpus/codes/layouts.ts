import type { Wording } from './wording.ts'

/** A mail of the corpus, and what is in it. `links` and `codes` are all of them. */
export interface Labelled {
  name: string
  subject: string
  text?: string
  html?: string
  codes: string[]
  links: string[]
}

/** The forms that codes have: as they are written, and what is to be entered. */
const FORMS: readonly (readonly [written: string, value: string])[] = [
  ['482913', '482913'],
  ['7204', '7204'],
  ['59 31 07', '593107'],
  ['391 745', '391745'],
  ['804-226', '804226'],
  ['93170458', '93170458'],
  ['X7K2M9', 'X7K2M9'],
  ['4F9QZ', '4F9QZ'],
  ['K3TB-92QM', 'K3TB-92QM'],
  ['G-527081', 'G-527081'],
  ['55183', '55183'],
]

const NUMBERS = ['59301842', '100482', '7741', 'AB482913', '1Z9X88', '20240512'] as const
const PHONES = ['+1 555 010 4477', '(555) 010-9921', '0800 482 913', '030 4829130', '+49 30 482913'] as const

/** Fills the places of an ordinary line with numbers that are no codes. */
const filled = (line: string, seed: number): string =>
  line.replaceAll('{n}', NUMBERS[seed % NUMBERS.length]!).replaceAll('{p}', PHONES[seed % PHONES.length]!)

const page = (body: string, dir = 'ltr'): string =>
  `<!doctype html><html dir="${dir}"><head><meta charset="utf-8"><style>.b{background:#0a0;color:#fff;padding:12px}.f{color:#777;font-size:12px}</style></head><body>${body}</body></html>`

const footer = (w: Wording, seed: number): string =>
  `<p class="f">Acme Inc., 1600 Main Street, Springfield 94043 · © 2024 · <a href="https://acme.example/unsubscribe?id=${seed}a8f3b2c1d4e5f607">${w.unsubscribe}</a> · <a href="https://acme.example/privacy">Privacy</a></p>`

type Layout = (w: Wording, written: string, seed: number) => Omit<Labelled, 'name' | 'codes' | 'links'>

/** How the public templates put a code into a mail. */
const CODE_LAYOUTS: Readonly<Record<string, Layout>> = {
  plainAlone: ({ code: [subject, before], after }, c) => ({
    subject,
    text: `${before}\n\n${c}\n\n${after.join('\n\n')}\n`,
  }),
  plainInline: ({ code: [subject, , inline], after }, c) => ({
    subject,
    text: `${inline.replace('{c}', c)}\n\n${after.join(' ')}\n\n-- \nAcme\n1600 Main Street, Springfield 94043\n`,
  }),
  inSubject: ({ code: [, , inline], after }, c) => ({
    subject: inline.replace('{c}', c).replace(/[.。।]$/, ''),
    text: `${after.join('\n')}\n`,
  }),
  heading: (w, c, seed) => ({
    subject: w.code[0],
    html: page(
      `<h1>${w.code[0]}</h1><p>${w.code[1]}</p><h2 style="letter-spacing:4px">${c}</h2><p>${w.after[0]}</p><p>${w.after[1]}</p>${footer(w, seed)}`,
    ),
  }),
  table: (w, c, seed) => ({
    subject: w.code[0],
    html: page(
      `<table width="100%"><tr><td><img src="https://acme.example/logo.png" alt="Acme" width="90"></td></tr><tr><td>${w.code[1]}</td></tr><tr><td align="center" style="font-size:32px"><table><tr><td>${c}</td></tr></table></td></tr><tr><td>${w.after[0]} ${w.after[1]}</td></tr><tr><td>${footer(w, seed)}</td></tr></table>`,
    ),
  }),
  cells: (w, c, seed) => ({
    subject: w.code[0],
    html: page(
      `<p>${w.code[1]}</p><table><tr>${[...c.replace(/[ -]/g, '')].map((one) => `<td style="border:1px solid">${one}</td>`).join('')}</tr></table><p>${w.after[1]}</p>${footer(w, seed)}`,
    ),
  }),
  boxes: (w, c) => ({
    subject: w.code[0],
    html: page(
      `<p>${w.code[1]}</p><div>${[...c.replace(/[ -]/g, '')].map((one) => `<div style="display:inline-block">${one}</div>`).join('')}</div><p>${w.after[0]}</p>`,
    ),
  }),
  alternative: (w, c, seed) => ({
    subject: w.code[0],
    text: `${w.code[2].replace('{c}', c)}\n${w.after[0]}\n`,
    html: page(`<p>${w.code[2].replace('{c}', `<b>${c}</b>`)}</p><p>${w.after[0]}</p>${footer(w, seed)}`),
  }),
  htmlOnlyHasIt: (w, c, seed) => ({
    subject: w.code[0],
    text: `${w.code[0]}\n`,
    html: page(
      `<h1>${w.code[0]}</h1><p>${w.code[1]}</p><p><strong>${c}</strong></p><p>${w.after[0]}</p>${footer(w, seed)}`,
    ),
  }),
  picture: (w, c, seed) => ({
    subject: w.code[0],
    html: page(
      `<p>${w.code[1]}</p><img src="https://acme.example/code.png" alt="${c}"><p>${w.after[1]}</p>${footer(w, seed)}`,
    ),
  }),
  withOrder: (w, c, seed) => ({
    subject: w.code[0],
    text: `${w.code[2].replace('{c}', c)}\n\n${w.ordinary
      .slice(1, 4)
      .map((line) => filled(line, seed))
      .join('\n')}\n${w.after[1]}\n`,
  }),
  marked: (w, c) => ({ subject: w.code[0], text: `${w.code[1]}\n\n    *${c}*\n\n${w.after[0]}\n` }),
}

const TOKEN = 'eyJhbGciOi4a8f3b2c1d4e5f607Zk'
/** Links of the kinds that public services use, and through services that count clicks. */
const LINKS: Readonly<Record<'verify' | 'reset' | 'signIn', readonly string[]>> = {
  verify: [
    `https://acme.example/verify-email?token=${TOKEN}`,
    `https://auth.acme.example/realms/main/login-actions/action-token?key=${TOKEN}&client_id=web`,
    `https://acme.example/users/confirmation?confirmation_token=${TOKEN}`,
    `https://u4829.ct.sendgrid.net/ls/click?upn=u001.${TOKEN}`,
    `https://acme.example/u/activate-account/9f8e7d6c5b4a39281706f5e4d3c2b1a0`,
  ],
  reset: [
    `https://acme.example/users/password/edit?reset_password_token=${TOKEN}`,
    `https://acme.example/accounts/password/reset/key/2k-c8x9l2-9f8e7d6c5b4a3928/`,
    `https://email.mg.acme.example/c/eJxVjs1uwyAQhJ8G3xzBAgYfOFSV8h7Lj1`,
    `https://acme.example/session/email-login/9f8e7d6c5b4a39281706f5e4d3c2b1a0`,
    `https://acme.supabase.example/auth/v1/verify?token=${TOKEN}&type=recovery&redirect_to=https://acme.example`,
  ],
  signIn: [
    `https://acme.example/magic-link?token=${TOKEN}`,
    `https://acme.supabase.example/auth/v1/verify?token=${TOKEN}&type=magiclink`,
    `https://acme.example/login/email/callback?code=${TOKEN}`,
    `https://click.pstmrk.it/3s/acme.example%2Flogin/${TOKEN}`,
    `https://acme.example/self-service/login?flow=9f8e7d6c-5b4a-3928-1706-f5e4d3c2b1a0&code=${TOKEN}`,
  ],
}

type LinkLayout = (
  w: Wording,
  what: keyof typeof LINKS,
  url: string,
  seed: number,
) => Omit<Labelled, 'name' | 'codes' | 'links'>

const LINK_LAYOUTS: Readonly<Record<string, LinkLayout>> = {
  plain: (w, what, url) => ({ subject: w[what][0], text: `${w[what][1]}\n\n${url}\n\n${w.after[1]}\n` }),
  button: (w, what, url, seed) => ({
    subject: w[what][0],
    html: page(
      `<h1>${w[what][0]}</h1><p>${w[what][1]}</p><p><a class="b" href="${url.replaceAll('&', '&amp;')}">${w[what][2]}</a></p><p>${w.after[1]}</p>${footer(w, seed)}`,
    ),
  }),
  both: (w, what, url, seed) => ({
    subject: w[what][0],
    text: `${w[what][1]}\n\n${w[what][2]}: ${url}\n\n${w.after[1]}\n\n${w.unsubscribe}: https://acme.example/unsubscribe?id=${seed}a8f3b2c1d4e5f607\n`,
    html: page(
      `<table><tr><td><a href="https://acme.example/"><img src="https://acme.example/l.png" alt="Acme"></a></td></tr><tr><td>${w[what][1]}</td></tr><tr><td><a href="${url.replaceAll('&', '&amp;')}">${w[what][2]}</a></td></tr><tr><td>${w.after[1]}</td></tr></table>${footer(w, seed)}`,
    ),
  }),
}

/** All mails with codes and links in one language. */
export const mailsWithCodes = (language: string, w: Wording): Labelled[] => {
  const mails: Labelled[] = []
  const layouts = Object.entries(CODE_LAYOUTS)
  FORMS.forEach(([written, value], form) => {
    layouts.forEach(([name, layout], at) => {
      if ((form + at) % 3 !== 0) return
      const isSplit = name === 'cells' || name === 'boxes'
      if (isSplit && written.startsWith('G-')) return
      const expected = isSplit ? value.replaceAll('-', '') : value
      mails.push({
        name: `${language}/${name}/${written}`,
        ...layout(w, written, form + at),
        codes: [expected],
        links: [],
      })
    })
  })
  w.sms.forEach((sms, at) => {
    const [written, value] = FORMS[at % 5]!
    mails.push({
      name: `${language}/sms/${at}`,
      subject: '',
      text: sms.replace('{c}', written),
      codes: [value],
      links: [],
    })
  })
  for (const what of ['verify', 'reset', 'signIn'] as const)
    LINKS[what].forEach((url, at) => {
      const [name, layout] = Object.entries(LINK_LAYOUTS)[at % 3]!
      mails.push({
        name: `${language}/${what}/${name}/${at}`,
        ...layout(w, what, url, at),
        codes: [],
        links: [url],
      })
    })
  return mails
}

/** Ordinary mails in one language: what is bought, sent, announced. */
export const ordinaryMails = (language: string, w: Wording, count: number): Labelled[] => {
  const [subject, ...lines] = w.ordinary
  return Array.from({ length: count }, (_, seed) => {
    const own = lines.map((line, at) => filled(line, seed + at))
    const some = own.filter((_line, at) => (seed + at) % 4 !== 0)
    const base = {
      name: `${language}/ordinary/${seed}`,
      subject: filled(subject, seed),
      codes: [],
      links: [],
    }
    if (seed % 3 === 0)
      return {
        ...base,
        text: `${some.join('\n')}\n\n${w.unsubscribe}: https://acme.example/u/${seed}a8f3b2c1d4e5f607\n`,
      }
    if (seed % 3 === 1)
      return {
        ...base,
        html: page(
          `<h1>${subject}</h1><table>${some
            .map((line) => {
              const [label, value] = line.split(/[:：]\s*/, 2)
              return `<tr><td>${label}</td><td>${value ?? ''}</td></tr>`
            })
            .join(
              '',
            )}</table><a class="b" href="https://acme.example/orders/${seed}482913">Acme</a>${footer(w, seed)}`,
        ),
      }
    return {
      ...base,
      html: page(
        `${some
          .map((line) => {
            const [label, value] = line.split(/[:：]\s*/, 2)
            return `<p>${label}</p><p><b>${value ?? ''}</b></p>`
          })
          .join(
            '',
          )}<a href="https://u4829.ct.sendgrid.net/ls/click?upn=u001.${TOKEN}${seed}">${w.signIn[2]}</a>${footer(w, seed)}`,
      ),
    }
  })
}

/** The bytes of a mail. */
export const rawOf = ({ subject, text, html }: Labelled): Buffer => {
  const encoded = (body: string) =>
    (
      Buffer.from(body)
        .toString('base64')
        .match(/.{1,76}/g) ?? []
    ).join('\r\n')
  const part = (type: string, body: string) =>
    `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${encoded(body)}\r\n`
  const head = `From: Acme <no-reply@acme.example>\r\nTo: agent@agents.example\r\nSubject: =?utf-8?B?${Buffer.from(subject).toString('base64')}?=\r\nMIME-Version: 1.0\r\n`
  if (text === undefined || html === undefined)
    return Buffer.from(head + part(text === undefined ? 'text/html' : 'text/plain', text ?? html ?? ''))
  return Buffer.from(
    `${head}Content-Type: multipart/alternative; boundary=b1\r\n\r\n--b1\r\n${part('text/plain', text)}\r\n--b1\r\n${part('text/html', html)}\r\n--b1--\r\n`,
  )
}
