/** How to unsubscribe: by a POST to a URL (RFC 8058), or by a mail. */
export type UnsubscribeWay =
  | { kind: 'one_click'; url: string }
  | { kind: 'mail'; to: string; subject: string; text: string }
