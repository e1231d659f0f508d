/**
 * What hosts that enforce information flow are told of a result, as `_meta.ifc`: whether it contains words of somebody who
 * is neither a member nor an agent of the workspace, and who may read it. The values are those of github-mcp-server.
 */
export interface Label {
  integrity: 'trusted' | 'untrusted'
  /** What an agent reads is its workspace's: `private`, whoever wrote it. */
  confidentiality: 'private'
}

/** Label of a result, as its metadata; none for a result in which nobody else's words are. */
export const labelled = (label: Label | null): { _meta?: { ifc: Label } } =>
  label === null ? {} : { _meta: { ifc: label } }

export const labelFor = (isTrusted: boolean): Label => ({
  integrity: isTrusted ? 'trusted' : 'untrusted',
  confidentiality: 'private',
})
