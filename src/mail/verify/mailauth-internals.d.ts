/** Files of mailauth 7.1.0 as they are loaded one by one. The version is pinned, and tests fail if they change. */
declare module 'mailauth/lib/tools.js' {
  const tools: {
    getPublicKey(
      type: string,
      name: string,
      minBitLength: number | undefined,
      resolver: import('./resolver.ts').DnsResolver,
      options: { hashAlgo: string | undefined },
    ): Promise<{ publicKey: string; flags: string[] }>
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

declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  const verifiers: {
    DkimVerifier: new (options: { resolver: import('./resolver.ts').DnsResolver; sender: string }) => object
  }
  export = verifiers
}

declare module 'mailauth/lib/dmarc/get-dmarc-record.js' {
  interface DmarcRecord {
    adkim?: string
    aspf?: string
    t?: string
  }
  /** Returns the record at `_dmarc.` of a name, or false. The same promise for the same name. */
  type RecordLookup = (name: string) => Promise<DmarcRecord | false>
  const records: {
    createRecordLookup(resolver: import('./resolver.ts').DnsResolver): RecordLookup
    /** `orgDomain` is null if the walk failed above the record of the domain itself. Rejects if it failed before. */
    discoverPolicy(
      domain: string,
      lookup: RecordLookup,
    ): Promise<{ record: DmarcRecord | false; recordDomain: string | null; orgDomain: string | null }>
    getOrgDomain(domain: string, lookup: RecordLookup): Promise<string>
    getPolicyTags(record: DmarcRecord): { p: Policy; sp?: Policy; np?: Policy } | null
    domainExists(domain: string, resolver: import('./resolver.ts').DnsResolver): Promise<boolean>
  }
  type Policy = 'none' | 'quarantine' | 'reject'
  export = records
}
