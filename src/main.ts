#!/usr/bin/env node
import './node-version.mjs'

// GraphQL and others check themselves at every value otherwise, which is for their developers.
process.env.NODE_ENV ??= 'production'

// Not a static import: Node links all of those before any of them runs, and an older one fails there.
await import('./run.ts')
