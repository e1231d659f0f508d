import type { ExecutionArgs } from 'graphql'
import type { Attempt, Viewer } from '../../workspace/index.ts'
import type { Changes } from '../feed/changes.ts'
import type { WorkspaceFeed } from '../feed/workspace-feed.ts'
import type { GraphqlDeps } from './deps.ts'
import type { Budget } from './limits.ts'

/**
 * Context of every resolver. Each operation, and each event of a subscription, has its own, because
 * per-request caches are attached to it.
 */
export interface GraphqlContext {
  deps: GraphqlDeps
  changes: Changes
  workspaces: WorkspaceFeed
  viewer: Viewer
  /** The `X-Request-Id` of the response, under which failures are logged. */
  requestId: string
  /** Length of the request's body. */
  bytes: number
  /** Returns a signal that aborts when the reader of the response is gone. */
  life(): AbortSignal
  /** Counts what the operation costs beyond a usual request towards the token's quota. */
  charge(amount: number): void
  /** What is counted for the whole request: all its operations have the same. */
  budget: Budget
  /** Whether the client accepts an event stream as the response. */
  streams: boolean
  /**
   * The request's `Idempotency-Key`; `replayed` is set when the response is a repetition of the first one.
   */
  attempt?: Attempt & { replayed?: boolean }
}

/** A parsed and valid operation. */
export type Operation = ExecutionArgs & { contextValue: GraphqlContext }
