export { type CheckedRecord, checkRecords } from './check.ts'
export { deleteKeysOf, dkimKeys, publishedDkimKeys, rotateDkimKey } from './dkim.ts'
export {
  addDomain,
  type Domain,
  findDomain,
  listDomains,
  recordsOf,
  recordsOfAll,
  removeDomain,
  updateDomain,
} from './domain.ts'
export { type Ask, createAsk } from './lookup.ts'
export { type RecheckDeps, recheckDomains } from './recheck.ts'
export { type WantedRecord, wantedRecords } from './record.ts'
export { resealServiceKeys, SEALED_DKIM_KEYS } from './sealed-keys.ts'
export { createSigner } from './signer.ts'
export { verifyDomain } from './verify.ts'
