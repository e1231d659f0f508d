#!/usr/bin/env node
import './node-version.mjs'

// Not a static import: Node links all of those before any of them runs, and an older one fails there.
await import('./run.ts')
