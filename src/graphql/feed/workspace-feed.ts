import { messageOf } from '../../core/errors.ts'
import { MESSAGE_CHANGED } from '../../message/index.ts'
import {
  type ChangePosition,
  type ChangesRead,
  readChanges,
  WORKSPACE_CHANGED,
} from '../../workspace/index.ts'
import type { FeedDeps } from './changes.ts'
import type { WorkspaceChanges } from './item.ts'

/** Notifications within this time are read with one statement. */
const GATHER_MS = 10
/** Interval of the poll that makes up for lost notifications, and finds what nobody announces. */
const POLL_MS = 1_500

/** A reader of one workspace's log. While it is not waiting, it holds nothing but its position. */
export class WorkspaceFollower {
  readonly workspaceId: string
  position: ChangePosition
  /** Whether there may be something after the position. */
  behind = true
  /** The first result is passed on in any case, so that the reader knows its position. */
  started = false
  waiting: ((changes: WorkspaceChanges | null) => void) | null = null

  constructor(workspaceId: string, position: ChangePosition) {
    this.workspaceId = workspaceId
    this.position = position
  }
}

const keyOf = ({ workspaceId, position }: WorkspaceFollower) => `${workspaceId} ${position.snapshot}`

const groupOf = (followers: readonly WorkspaceFollower[]): Map<string, WorkspaceFollower[]> => {
  const groups = new Map<string, WorkspaceFollower[]>()
  for (const follower of followers) {
    const group = groups.get(keyOf(follower))
    if (group) group.push(follower)
    else groups.set(keyOf(follower), [follower])
  }
  return groups
}

/**
 * Reads the logs of the watched workspaces, with one statement for all that may have changed. Readers at the same
 * position share a read. Any number of processes; each reads for its own subscribers.
 */
export class WorkspaceFeed {
  readonly #deps: FeedDeps
  readonly #followers = new Set<WorkspaceFollower>()
  readonly #unsubscribe: (() => void)[]
  #reading = false
  #timer: NodeJS.Timeout | undefined

  constructor(deps: FeedDeps) {
    this.#deps = deps
    const poll = setInterval(() => this.#news(null), POLL_MS)
    this.#unsubscribe = [
      deps.notifier.subscribe(WORKSPACE_CHANGED, (workspaceId) => this.#news(workspaceId)),
      // Its key does not name the workspace.
      deps.notifier.subscribe(MESSAGE_CHANGED, () => this.#news(null)),
      deps.notifier.onReconnect(() => this.#news(null)),
      () => clearInterval(poll),
      () => clearTimeout(this.#timer),
    ]
  }

  follow(workspaceId: string, position: ChangePosition): WorkspaceFollower {
    const follower = new WorkspaceFollower(workspaceId, position)
    this.#followers.add(follower)
    return follower
  }

  /** Resolves with the next changes; null once the follower has ended. */
  next(follower: WorkspaceFollower): Promise<WorkspaceChanges | null> {
    if (!this.#followers.has(follower)) return Promise.resolve(null)
    return new Promise((resolve) => {
      follower.waiting = resolve
      if (follower.behind) this.#schedule(0)
    })
  }

  unfollow(follower: WorkspaceFollower): void {
    this.#followers.delete(follower)
    follower.waiting?.(null)
    follower.waiting = null
  }

  stop(): void {
    for (const end of this.#unsubscribe) end()
    for (const follower of [...this.#followers]) this.unfollow(follower)
  }

  #news(workspaceId: string | null): void {
    for (const follower of this.#followers)
      if (workspaceId === null || follower.workspaceId === workspaceId) follower.behind = true
    this.#schedule(GATHER_MS)
  }

  #schedule(ms: number): void {
    if (this.#reading || this.#timer || !this.#due().length) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#read()
    }, ms)
  }

  #due(): WorkspaceFollower[] {
    return [...this.#followers].filter(({ behind, waiting }) => behind && waiting)
  }

  async #read(): Promise<void> {
    const due = this.#due()
    const groups = groupOf(due)
    this.#reading = true
    try {
      // Before reading, because a commit during the read sets it again.
      for (const follower of due) follower.behind = false
      const firsts = [...groups.values()].map(([first]) => first!)
      const positions = firsts.map(({ workspaceId, position }) => ({ workspaceId, ...position }))
      const reads = positions.length === 0 ? [] : await readChanges(this.#deps, positions)
      for (const [index, followers] of [...groups.values()].entries())
        for (const follower of followers) this.#pass(follower, reads[index]!)
    } catch (error) {
      for (const follower of due) follower.behind = true
      this.#deps.log.warn({ error: messageOf(error) }, 'could not read changes of workspaces; retrying')
    } finally {
      this.#reading = false
    }
    this.#schedule(GATHER_MS)
  }

  #pass(follower: WorkspaceFollower, read: ChangesRead): void {
    const { waiting, position: after, workspaceId } = follower
    follower.position = read.position
    if (!waiting || (follower.started && read.changes.length === 0 && !read.truncated)) return
    follower.started = true
    follower.waiting = null
    waiting({ ...read, workspaceId, after })
  }
}
