declare module 'mailauth/lib/dkim/sign.js' {
  export function dkimSign(raw: Buffer, options: object): Promise<{ signatures: string }>
}
