/** Files of mailauth 4.13.3 as they are loaded one by one. The version is pinned, and tests fail if they change. */
declare module 'mailauth/lib/tools.js' {
  const tools: {
    getPublicKey(
      type: string,
      name: string,
      minBitLength: number | undefined,
      resolver: import('./resolver.ts').DnsResolver,
    ): Promise<unknown>
    formatRelaxedLine(field: Buffer, end?: string): Buffer
  }
  export = tools
}

declare module 'mailauth/lib/spf/index.js' {
  const spfs: Pick<typeof import('mailauth'), 'spf'>
  export = spfs
}

declare module 'mailauth/lib/arc/index.js' {
  const arcs: Pick<typeof import('mailauth'), 'arc'>
  export = arcs
}

declare module 'mailauth/lib/spf/macro.js' {
  function macro(text: string, values: { sender: string; ip: string; helo: string }): string
  export = macro
}

declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  const verifiers: {
    DkimVerifier: new (options: { resolver: import('./resolver.ts').DnsResolver; sender: string }) => object
  }
  export = verifiers
}
