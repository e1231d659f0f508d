import { expect, test } from 'vitest'
import { readCommand, UsageError } from '../../src/cli/command-line.ts'

const NOBODY = '00000000-0000-4000-8000-000000000000'

const failureOf = (args: string[]): string => {
  try {
    readCommand(args)
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
  return 'no error'
}

test.each([['--help'], ['-h'], ['help']])('%s is a request for help', (argument) => {
  expect(readCommand([argument])).toEqual({ name: 'help' })
})

test.each([
  [['fly']],
  [['start', 'again']],
  [['--loud']],
  [['workspace']],
  [['workspace', '--name', 'x']],
  [['token']],
  [['number']],
])('what is wrong with %j is said in one line, with where all commands are', (args) => {
  expect(failureOf(args)).toMatch(/^.+ All commands: npm start -- --help$/)
})

test.each([
  [['workspace', '--name', 'x', '--owner', 'nobody'], '--owner is "nobody"; it takes an email address.'],
  [['workspace', '--name', ' ', '--owner', 'a@example.com'], '--name is " "; it takes 1 to 100 characters'],
  [['workspace', '--name', 'x'.repeat(101), '--owner', 'a@example.com'], 'it takes 1 to 100 characters'],
  [['number', '--value', '555'], '--value is "555"; it takes a phone number in international form'],
  [['token', '--member', 'a@example.com', '--workspace', 'x'], '--workspace is "x"; it takes an id.'],
  [['import', '--agent', 'x', '/tmp'], '--agent is "x"; it takes an id'],
  [['import', '/tmp'], '--agent is missing'],
  [['import', '--agent', NOBODY], 'either a PATH, or --imap'],
  [['import', '--agent', NOBODY, '--imap', 'imap://a@b'], 'it takes imaps://USER@HOST'],
])('%j: the valid values are named', (args, says) => {
  expect(failureOf(args)).toContain(says)
})

test('a password in the URL of a mailbox is refused and not repeated', () => {
  const message = failureOf(['import', '--agent', NOBODY, '--imap', 'imaps://a:pass@b'])
  expect(message).toContain('without the password')
  expect(message).not.toContain('a:pass')
})
