/**
 * Runs before and after `npm pack`: the package contains the exact versions of all its dependencies, as
 * npm-shrinkwrap.json (npm leaves package-lock.json out of packages). Those of development are left out.
 */
import fs from 'node:fs'
import path from 'node:path'

const at = (name) => path.join(import.meta.dirname, '..', name)

/** Prisma's command line is an optional peer of its client, and 230 MB. */
const isNeeded = ([name, { dev, devOptional }]) => name === '' || !(dev || devOptional)

if (process.argv[2] === '--remove') fs.rmSync(at('npm-shrinkwrap.json'), { force: true })
else {
  const lock = JSON.parse(fs.readFileSync(at('package-lock.json'), 'utf8'))
  const packages = Object.fromEntries(Object.entries(lock.packages).filter(isNeeded))
  const { devDependencies: _, ...root } = packages['']
  fs.writeFileSync(
    at('npm-shrinkwrap.json'),
    JSON.stringify({ ...lock, packages: { ...packages, '': root } }, null, 2),
  )
}
