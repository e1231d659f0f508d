/** The words of the parts that screens are made of. */
export const text = {
  close: 'Close',
  cancel: 'Cancel',
  copy: 'Copy',
  copied: 'Copied',
  copyOf: (what: string) => `Copy ${what}`,
  more: 'Show more',
  loading: 'Loading…',
  tryAgain: 'Try again',
  requestId: (id: string) => `Request ${id}`,
  failed: 'This could not be loaded',
  justNow: 'now',
  icon: 'Icon',
}
