import type { Api } from '../../support/service.ts'

/** The service with all additions. */
export interface Running {
  http: string
  smtp: string
  owner: Api
}
