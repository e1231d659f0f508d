/**
 * A host that enforces information flow by the rules of Microsoft's Agent Framework (its middleware for labels and
 * policies): the label of the conversation is the join of the labels of all results so far. A tool that reaches the open
 * world or destroys something takes no untrusted context, and what is private goes only to those who may read it.
 */

interface Tool {
  name: string
  annotations?:
    | Partial<Record<'readOnlyHint' | 'destructiveHint' | 'openWorldHint', boolean | undefined>>
    | undefined
}

interface Result {
  _meta?: unknown
  content?: unknown
}

export class InformationFlowHost {
  #isUntrusted = false
  #isPrivate = false
  readonly #tools: Map<string, Tool>
  readonly #readers: Set<string>
  readonly #run: (name: string, args: Record<string, unknown>) => Promise<Result>

  /** `readers`: who may read what is private. */
  constructor(
    tools: readonly Tool[],
    readers: readonly string[],
    run: (name: string, args: Record<string, unknown>) => Promise<Result>,
  ) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]))
    this.#readers = new Set(readers)
    this.#run = run
  }

  async call(name: string, args: Record<string, unknown>): Promise<{ isStopped: boolean }> {
    const { readOnlyHint, destructiveHint, openWorldHint } = this.#tools.get(name)!.annotations ?? {}
    const isSink = !readOnlyHint && (destructiveHint || openWorldHint)
    if (isSink && this.#isUntrusted) return { isStopped: true }
    if (isSink && this.#isPrivate && !this.#isForReaders(args)) return { isStopped: true }
    this.#learn(await this.#run(name, args), { isOutside: openWorldHint === true && readOnlyHint === true })
    return { isStopped: false }
  }

  /** A reply goes to who wrote what was read, whom the label vouches for. */
  #isForReaders({ to, cc, messageId }: Record<string, unknown>): boolean {
    const named = [to, cc].flat().filter((one) => one !== undefined)
    return named.length === 0
      ? messageId !== undefined
      : named.every((one) => this.#readers.has(one as string))
  }

  /** A label of the server replaces what is assumed of a tool that reads the open world: that it is not trusted. */
  #learn({ _meta }: Result, { isOutside }: { isOutside: boolean }): void {
    const { ifc } = (_meta ?? {}) as { ifc?: { integrity: string; confidentiality: string } }
    this.#isUntrusted ||= ifc ? ifc.integrity !== 'trusted' : isOutside
    this.#isPrivate ||= ifc?.confidentiality === 'private'
  }
}
