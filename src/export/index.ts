export { type ExportDeps, exportAgent, exportAsOperator, exportWorkspace } from './export.ts'
