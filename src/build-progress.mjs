/** Interval in milliseconds at which the bar moves. */
const FRAME_MS = 200
const BAR_WIDTH = 24

const secondsSince = (start) => `${Math.round((performance.now() - start) / 1000)} s`

/**
 * Says on `stdout` what is being done: one line for each step when it begins and one at the end. A terminal also
 * has a bar below the lines meanwhile.
 */
export class Progress {
  #stdout
  #start = performance.now()
  #total = 0
  #begun = 0
  #done = 0
  #timer

  constructor(stdout) {
    this.#stdout = stdout
  }

  #clear() {
    if (this.#timer) this.#stdout.write('\r\x1b[2K')
  }

  #draw() {
    const full = Math.round((BAR_WIDTH * this.#done) / this.#total)
    const bar = '='.repeat(full).padEnd(BAR_WIDTH, '-')
    this.#stdout.write(`\r\x1b[2K[${bar}] ${this.#done} of ${this.#total}, ${secondsSince(this.#start)}`)
  }

  say(line) {
    this.#clear()
    this.#stdout.write(`${line}\n`)
  }

  begin(total) {
    this.#total = total
    if (!this.#stdout.isTTY) return
    this.#timer = setInterval(() => this.#draw(), FRAME_MS)
  }

  async step(line, work) {
    this.say(`[${++this.#begun}/${this.#total}] ${line}`)
    const result = await work()
    this.#done++
    return result
  }

  /** Removes the bar, also after a step that failed. `next` says what comes after the build. */
  end(next) {
    this.#clear()
    clearInterval(this.#timer)
    this.#timer = undefined
    const took = `Built in ${secondsSince(this.#start)}`
    if (this.#done === this.#total) this.say(next ? `${took}, ${next}` : took)
  }
}
