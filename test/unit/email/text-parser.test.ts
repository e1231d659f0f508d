import { parse, serialize } from 'parse5'
import { adapter } from 'parse5-htmlparser2-tree-adapter'
import { expect, test } from 'vitest'
import { TextParser } from '../../../src/mail/parse/html/text-parser.ts'

/** The parser that reads texts at once builds the tree that parse5 does. */

const PIECES = [
  ...[
    'two words',
    ' ',
    '\n',
    '\r',
    '\r\n',
    '\t',
    '\f',
    '\0',
    '&nbsp;',
    '&#32;',
    '&amp',
    '&',
    '<',
    '😀',
    '\ud83d',
  ],
  ...['<p>', '</p>', '<b>', '</i>', '<table>', '<tr>', '<td>', '</table>', '<caption>', '<select><option>'],
  ...['<pre>', '<pre>\n', '<textarea>\n', '<template>', '<svg>', '<math>', '<title>', '<style>', '</style>'],
  ...[
    '<frameset>',
    '</body>',
    '</html>',
    '<!--',
    '-->',
    '<![CDATA[a b]]>',
    '<body>',
    '<head>',
    '<plaintext>',
  ],
]

const options = { treeAdapter: adapter, scriptingEnabled: false }
const treeOf = (root: ReturnType<typeof adapter.createDocument>) => serialize(root, options)

const expectSame = (html: string) =>
  expect(treeOf(TextParser.parse(html, options)), JSON.stringify(html)).toBe(treeOf(parse(html, options)))

test.each([
  'one two\nthree',
  '<p>a\rb c\nd',
  '<pre>\nfirst line\n second</pre>',
  '<table>misplaced text <td>in a cell</table> after',
  '<p>1 < 2 &amp; 3 &lt; 4 &notin x',
])('of %j', expectSame)

test('of texts and tags in any order', () => {
  let seed = 1
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * below)
  }
  for (let i = 0; i < 2_000; i++)
    expectSame(Array.from({ length: next(30) }, () => PIECES[next(PIECES.length)]).join(''))
})
