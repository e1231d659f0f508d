interface Link<Member> {
  member: Member
  before: Link<Member> | null
  after: Link<Member> | null
}

/**
 * What is in progress, oldest first, for things that come and go with each request. A `Set` or `Map` of them would cost
 * V8's garbage collector far more: its full tables point to their successors, so that one that has become old keeps
 * all later ones, with the requests in them, until the next full collection. See docs/decisions.md#sets-of-requests.
 */
export class LinkedSet<Member> {
  #first: Link<Member> | null = null
  #last: Link<Member> | null = null
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Returns the function that removes it again; calling that more than once has no effect. */
  add(member: Member): () => void {
    let link: Link<Member> | null = { member, before: this.#last, after: null }
    if (link.before) link.before.after = link
    else this.#first = link
    this.#last = link
    this.#size++
    return () => {
      if (link) this.#remove(link)
      link = null
    }
  }

  #remove(link: Link<Member>): void {
    const { before, after } = link
    if (before) before.after = after
    else this.#first = after
    if (after) after.before = before
    else this.#last = before
    this.#size--
    // An old link that is dead must not keep its neighbours.
    link.before = null
    link.after = null
  }

  /** The members as they are now. */
  all(): Member[] {
    const members: Member[] = []
    for (let link = this.#first; link; link = link.after) members.push(link.member)
    return members
  }
}
