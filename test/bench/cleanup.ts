const tasks: (() => unknown)[] = []

/** Runs `task` at the end of the suite, also when it fails or takes too long; the newest task runs first. */
export const atEnd = (task: () => unknown): void => {
  tasks.push(task)
}

export const endSuite = async (): Promise<void> => {
  for (const task of tasks.splice(0).reverse()) {
    try {
      await task()
    } catch (error) {
      process.stderr.write(`${(error as Error).stack}\n`)
    }
  }
}
