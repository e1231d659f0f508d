/**
 * Bundles the web application into the given folder, compresses what browsers load, and lists the GraphQL
 * documents that it sends.
 *
 * Plain JavaScript, because nothing is built yet when it runs.
 */
import fs from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'

// Vite would otherwise take it from a test's environment, and bundle React for development.
process.env.NODE_ENV = 'production'

const root = import.meta.dirname
const outDir = process.argv[2]

/**
 * Nothing is painted before the script has run, which applies the theme that the member chose; there would be
 * nothing to see but the colours of the other theme.
 */
const paintLater = (html) => html.replace('<script type="module"', '<script type="module" blocking="render"')

await build({
  root,
  base: '/app/',
  configFile: false,
  envFile: false,
  publicDir: false,
  logLevel: 'error',
  clearScreen: false,
  plugins: [{ name: 'theme-first', transformIndexHtml: { order: 'post', handler: paintLater } }],
  build: {
    outDir,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    // The first versions with everything that the style uses, such as `light-dark()`.
    target: ['chrome123', 'firefox125', 'safari17.5'],
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
})

// The service accepts these also where it accepts only the operations that its operator lists.
const sources = fs.readdirSync(root, { recursive: true }).filter((file) => /\.tsx?$/.test(file))
const documents = sources.flatMap((file) =>
  Array.from(
    fs.readFileSync(path.join(root, file), 'utf8').matchAll(/\bgraphql\(\s*`([^`]*)`/g),
    ([, document]) => document,
  ),
)
fs.writeFileSync(path.join(outDir, 'operations.json'), JSON.stringify(documents))

const assets = path.join(outDir, 'assets')
for (const name of fs.readdirSync(assets)) {
  const bytes = fs.readFileSync(path.join(assets, name))
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
  fs.writeFileSync(path.join(assets, `${name}.br`), brotliCompressSync(bytes, quality))
  fs.writeFileSync(path.join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }))
}
