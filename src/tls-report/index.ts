export { TlsResults } from './results.ts'
export { sendTlsReports, type TlsReportDeps } from './send.ts'
