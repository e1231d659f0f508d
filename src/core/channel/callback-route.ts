import type { IncomingHttpHeaders } from 'node:http'
import type { Arrival } from '../http/arrivals.ts'

/**
 * A provider's webhook. Its calls carry no token: the handler authenticates the caller before it trusts
 * anything.
 */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** Path that it serves, with everything below. Begins with a slash and does not end with one. */
  readonly path: string
  readonly maxBytes: number
  /**
   * Checks the headers before the body is read. Throws an `AppError` to refuse the call. Undefined if the
   * headers prove nothing.
   */
  authenticate?(call: RouteHead): Promise<Authentication>
  /**
   * Reads the body; by default, all of it is in memory while it arrives. Null if it is longer than `maxBytes`. Throws
   * an `AppError` to refuse the call.
   */
  read?(body: AsyncIterable<Uint8Array>, head: ReadHead): Promise<ReadBody | null>
  /**
   * Handles a call. Throws an `AppError` to refuse it: `forbidden` when the caller does not prove to be the
   * provider.
   */
  handle(call: RouteCall): Promise<RouteAnswer>
}

/** A call whose body has not been read. */
export interface RouteHead {
  /** Path and query, unmodified. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Address that it comes from, as returned by `sourceOf`; '' for this machine or a proxy. */
  readonly source: string
  readonly arrival: Arrival
}

/** Result of checking the headers. */
export interface Authentication {
  /**
   * Whether they authenticate the caller. The number of bodies from unauthenticated callers in memory is
   * limited.
   */
  readonly proven: boolean
}

/** A call whose headers were checked. */
export interface ReadHead extends RouteHead, Pick<Authentication, 'proven'> {}

/** A body in memory. */
export interface ReadBody {
  readonly body: Buffer
  /** Called when the call has ended. */
  leave(): Promise<void>
}

export interface RouteCall extends Omit<RouteHead, 'arrival'> {
  /** The body, unmodified. */
  readonly body: Buffer
}

export interface RouteAnswer {
  readonly status: number
  readonly type?: string
  readonly body?: string
}
