import { register } from 'node:module'

/**
 * Preload with `node --import`: a tool that imports `typescript` gets version 6, bundled in @ts-morph/common.
 * Version 7, which compiles this project, no longer has that JavaScript API.
 */
const older = `data:text/javascript,${encodeURIComponent(`export { ts as default } from ${JSON.stringify(import.meta.resolve('@ts-morph/common'))}`)}`
const hooks = `export const resolve = (specifier, context, next) =>
  specifier === 'typescript' ? { url: ${JSON.stringify(older)}, shortCircuit: true } : next(specifier, context)`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
