export type { Field } from './guard/comparison.ts'
export { type Guard, Guards } from './guard/guards.ts'
export {
  ADVICE,
  ensureNoLeak,
  heldUntil,
  type LeakDeps,
  LeakError,
  recordHeld,
  recordingLeaks,
  refuseLeaks,
  sayLeaks,
} from './guard/leak.ts'
export {
  deleteSecret,
  keepSecret,
  listSecrets,
  pruneSecrets,
  revealSecrets,
  SEALED_SECRETS,
  type SecretDeps,
  setSecret,
  unexpired,
} from './secret.ts'
