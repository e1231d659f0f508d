import { register } from 'node:module'

/**
 * `node --import` this: a tool that imports `typescript` gets the 6 that @ts-morph/common carries, whose
 * JavaScript API the 7 that we compile with no longer has.
 */
const older = `data:text/javascript,${encodeURIComponent(`export { ts as default } from ${JSON.stringify(import.meta.resolve('@ts-morph/common'))}`)}`
const hooks = `export const resolve = (specifier, context, next) =>
  specifier === 'typescript' ? { url: ${JSON.stringify(older)}, shortCircuit: true } : next(specifier, context)`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
