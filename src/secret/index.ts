export {
  deleteSecret,
  listSecrets,
  revealSecrets,
  SEALED_SECRETS,
  setSecret,
} from './secret.ts'
