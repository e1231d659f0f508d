/**
 * Clean-up at the end of a test file. Vitest's own `afterAll` does nothing when it is called inside a hook,
 * where most files start their service.
 */
const tasks: (() => unknown)[] = []

/** Runs `task` after the file's last test, wherever this is called; the newest task runs first. */
export const afterFile = (task: () => unknown): void => {
  tasks.push(task)
}

/** Runs all tasks; then throws the first error, if any. */
export const endFile = async (): Promise<void> => {
  const errors: unknown[] = []
  for (const task of tasks.splice(0).reverse()) {
    try {
      await task()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}
