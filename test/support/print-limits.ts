import { printedLimits } from './limits-table.ts'

process.stdout.write(printedLimits())
