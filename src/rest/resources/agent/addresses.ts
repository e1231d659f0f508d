import type { OpenAPIHono } from '@hono/zod-openapi'
import { changeAddress, listAddresses, removeAddress, setUpAddress } from '../../../api/agent/address.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const addressRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listAddresses)
  route(app, changeAddress)
  route(app, removeAddress)
  route(app, setUpAddress)
}
