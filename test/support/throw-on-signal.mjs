/** Loaded into a service: an error that nobody catches, at a signal. */
process.on('SIGUSR2', () => {
  throw new Error('an error that nobody catches')
})
