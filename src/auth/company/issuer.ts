import { AppError, invalidInput } from '../../core/errors.ts'
import type { Allow } from '../../outgoing-http/allowed-address.ts'
import type { Lookup } from '../../outgoing-http/lookup.ts'
import { checkTargetUrl } from '../../outgoing-http/url.ts'
import { callExternally, type ExternalCallDeps, ensureOwner, type Viewer } from '../../workspace/index.ts'

/**
 * Throws `invalid_input` for the issuer of a provider that this service may not call: what webhooks may not reach either. Whether it
 * answers shows the first sign-in: a provider that is down for a moment can be set.
 */
export const checkIssuer = async (
  deps: ExternalCallDeps & { allow: Allow; lookup: Lookup },
  viewer: Viewer,
  issuer: string,
): Promise<void> => {
  ensureOwner(viewer)
  try {
    await callExternally(deps, viewer, () => checkTargetUrl(issuer, deps))
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_input')
      throw invalidInput('signIn.issuer', error.message.replace(/^\w+: /, ''))
    throw error
  }
}
