import type { HttpBindings } from '@hono/node-server'
import type { Context } from '../../context.ts'
import type { Viewer } from '../../workspace/index.ts'

/** The router's environment for a request. */
export interface RestEnv {
  Bindings: HttpBindings
  Variables: {
    viewer: Viewer
    requestId: string
    /** Length of the body in JSON; undefined without one. */
    bytes: number | undefined
    /** What this request's operations use: with an idempotency key, they all run inside one transaction. */
    deps: Context
  }
}
