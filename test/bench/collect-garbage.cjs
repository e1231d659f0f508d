/**
 * Preloaded into processes whose memory is measured: collects garbage on SIGUSR2, so that what was allocated
 * only to open streams does not count.
 */
const v8 = require('node:v8')
const vm = require('node:vm')
const { isMainThread } = require('node:worker_threads')

v8.setFlagsFromString('--expose-gc')
const collect = vm.runInNewContext('gc')
if (isMainThread) process.on('SIGUSR2', () => collect())
