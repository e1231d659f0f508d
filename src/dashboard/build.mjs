/**
 * Bundles the web application into the given folder, compresses what browsers load, and lists the GraphQL
 * documents that it sends.
 *
 * Plain JavaScript, because nothing is built yet when it runs.
 */
import { createHash } from 'node:crypto'
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
const paintLater = (html) =>
  html.replaceAll('<script type="module"', '<script type="module" blocking="render"')

/** What every screen needs: all that the first script imports. */
const always = new Set()
const findAlways = {
  name: 'always',
  buildEnd() {
    const add = (id) => {
      if (always.has(id)) return
      always.add(id)
      for (const next of this.getModuleInfo(id)?.importedIds ?? []) add(next)
    }
    add(path.join(root, 'main.tsx'))
  },
}

/** The sources and the files of packages in the bundle, relative to the project. */
const modules = new Set()
const listModules = {
  name: 'list-modules',
  generateBundle(_, bundle) {
    for (const { moduleIds = [] } of Object.values(bundle))
      for (const id of moduleIds) modules.add(path.relative(path.join(root, '..', '..'), id))
  },
}

await build({
  root,
  base: '/app/',
  configFile: false,
  envFile: false,
  publicDir: false,
  logLevel: 'error',
  clearScreen: false,
  plugins: [
    { name: 'theme-first', transformIndexHtml: { order: 'post', handler: paintLater } },
    findAlways,
    listModules,
  ],
  build: {
    outDir,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    // The first versions with everything that the style uses, such as `light-dark()`.
    target: ['chrome123', 'firefox125', 'safari17.5'],
    modulePreload: { polyfill: false },
    // One file, and not a dozen: as it waits for the words of the language, it would be split with other screens.
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: 'app', test: (id) => always.has(id) }] },
      },
    },
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
fs.writeFileSync(path.join(outDir, '.modules.json'), JSON.stringify([...modules].sort()))

const assets = path.join(outDir, 'assets')

/** Adds a file whose name contains its hash, as those of Vite; returns its address. */
const addAsset = (name, ending, content) => {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 8)
  fs.writeFileSync(path.join(assets, `${name}-${hash}.${ending}`), content)
  return `/app/assets/${name}-${hash}.${ending}`
}

/** With it, browsers install the application beside others of the device. */
const addManifest = () => {
  const svg = fs.readFileSync(path.join(root, 'icon.svg'), 'utf8')
  const icon = (name, content, purpose) => ({
    src: addAsset(name, 'svg', content),
    type: 'image/svg+xml',
    sizes: 'any',
    purpose,
  })
  const manifest = {
    id: '/app',
    name: 'Agent Messaging Service',
    short_name: 'Messaging',
    start_url: '/app',
    scope: '/app',
    display: 'standalone',
    theme_color: '#0b6b62',
    background_color: '#f6f6f3',
    // A device that cuts icons to its own shape needs one without corners.
    icons: [icon('app', svg, 'any'), icon('app-maskable', svg.replace(' rx="8"', ''), 'maskable')],
  }
  return addAsset('app', 'webmanifest', JSON.stringify(manifest))
}
const page = path.join(outDir, 'index.html')
const link = `<link rel="manifest" href="${addManifest()}" />`
fs.writeFileSync(page, fs.readFileSync(page, 'utf8').replace('</head>', `  ${link}\n  </head>`))

for (const name of fs.readdirSync(assets)) {
  const bytes = fs.readFileSync(path.join(assets, name))
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
  fs.writeFileSync(path.join(assets, `${name}.br`), brotliCompressSync(bytes, quality))
  fs.writeFileSync(path.join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }))
}
