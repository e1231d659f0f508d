import type * as Library from 'oidc-provider'
// @ts-expect-error: the declarations are those of the main file, which writes a warning to the console on Node 20
import * as errorClasses from 'oidc-provider/lib/helpers/errors.js'
// @ts-expect-error: as above
import * as policies from 'oidc-provider/lib/helpers/interaction_policy/index.js'
// @ts-expect-error: as above
import { Provider as Server } from 'oidc-provider/lib/provider.js'

/** The parts of the certified OAuth library `oidc-provider` that the authorization server is made of. */
export const Provider: typeof Library.default = Server
export const errors: typeof Library.errors = errorClasses
export const interactionPolicy: typeof Library.interactionPolicy = policies
