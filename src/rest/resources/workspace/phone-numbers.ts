import type { OpenAPIHono } from '@hono/zod-openapi'
import {
  buyPhoneNumber,
  listPhoneNumbers,
  releasePhoneNumber,
  searchPhoneNumbers,
} from '../../../api/workspace/phone-number.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const phoneNumberRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listPhoneNumbers)
  route(app, searchPhoneNumbers)
  route(app, buyPhoneNumber)
  route(app, releasePhoneNumber)
}
