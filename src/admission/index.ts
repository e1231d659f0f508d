export { AGENT_TURNS_AN_HOUR, admit, evidenceOf } from './admit.ts'
export { overRate } from './sender-rate.ts'
