export {
  deleteSecret,
  listSecrets,
  revealSecrets,
  SEALED_SECRETS,
  type SecretDeps,
  setSecret,
} from './secret.ts'
