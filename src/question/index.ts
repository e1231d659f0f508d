export { type AnswerDeps, answerQuestion, withdrawQuestion } from './answer.ts'
export { askQuestion } from './ask.ts'
export { QUESTION_ENDED } from './end.ts'
export { expireQuestions, pruneQuestions } from './expire.ts'
export { openQuestionLink } from './link.ts'
export {
  listQuestions,
  MAX_WAITING,
  type Question,
  questionCursor,
  questionsFor,
  readQuestions,
} from './question.ts'
export { readQuestion } from './read.ts'
export { answerInChat } from './reply.ts'
