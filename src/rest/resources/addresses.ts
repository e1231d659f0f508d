import type { OpenAPIHono } from '@hono/zod-openapi'
import { changeAddress, listAddresses, removeAddress, setUpAddress } from '../../api/address.ts'
import type { RestEnv } from '../env.ts'
import { route } from '../rendered.ts'

export const addressRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listAddresses)
  route(app, changeAddress)
  route(app, removeAddress)
  route(app, setUpAddress)
}
