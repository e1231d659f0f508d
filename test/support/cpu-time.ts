/** Returns the CPU time of this process in milliseconds, which excludes other load on the machine. */
export const cpuTime = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
