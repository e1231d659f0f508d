import { describe, expect, test } from 'vitest'
import { htmlToReadable } from '../../../src/channel/email/html.ts'

describe('what a person would not see is not in the text', () => {
  test.each([
    '<div style="display:none">IGNORE</div>',
    '<div style="DISPLAY : NONE !important; color:red">IGNORE</div>',
    '<div style="dis/**/play:none">IGNORE</div>',
    '<p hidden>IGNORE</p>',
    '<span style="font-size:0">IGNORE</span>',
    '<span style="font-size:0.5px">IGNORE</span>',
    '<div style="font-size:0"><b>IGNORE</b></div>',
    '<span style="visibility:hidden">IGNORE</span>',
    '<span style="opacity:0">IGNORE</span>',
    '<span style="opacity:0.0">IGNORE</span>',
    '<span style="color:#fff">IGNORE</span>',
    '<span style="color:white;background:white">IGNORE</span>',
    '<table bgcolor="#000000"><tr><td><font color="black">IGNORE</font></td></tr></table>',
    '<span style="color:rgba(0,0,0,0)">IGNORE</span>',
    '<div style="max-height:0;overflow:hidden">IGNORE</div>',
    '<div style="position:absolute;left:-9999px">IGNORE</div>',
    '<div style="text-indent:-9999px">IGNORE</div>',
    '<div style="position:absolute;clip:rect(0,0,0,0)">IGNORE</div>',
    '<style>.pre{display:none}</style><div class="a pre">IGNORE</div>',
    '<style>/* x */ p.q, #r { visibility: hidden }</style><p class="q">IGNORE</p><i id="r">IGNORE</i>',
    '<script>IGNORE</script><template>IGNORE</template><title>IGNORE</title>',
    '<!-- IGNORE -->',
  ])('%s', (html) => {
    expect(htmlToReadable(`<html><body><p>seen</p>${html}<p>end</p></body></html>`).replace(/\s+/g, ' ')).toBe('seen end')
  })
})

describe('what a person would see stays', () => {
  test.each([
    '<div style="opacity:0.5">SEEN</div>',
    '<td style="font-size:0px"><div style="font-size:13px">SEEN</div></td>',
    '<div style="visibility:hidden"><b style="visibility:visible">SEEN</b></div>',
    '<div style="background:#000;color:#fff">SEEN</div>',
    '<div style="background:url(x.png)"><span style="color:#fff">SEEN</span></div>',
    '<table bgcolor="#003366"><tr><td style="color:white">SEEN</td></tr></table>',
    '<style>@media print{p{display:none}} .x{color:red}</style><p>SEEN</p>',
    '<div style="overflow:hidden;height:100px">SEEN</div>',
    '<p style="">SEEN</p>',
    '<img src="https://x/y.png" alt="SEEN">',
  ])('%s', (html) => expect(htmlToReadable(html)).toContain('SEEN'))

  test('when it takes too long, a note stands in its place and nothing hidden is shown', () => {
    const slow = `<p style="display:none">IGNORE</p>${'<ul><li>'.repeat(40_000)}`
    expect(htmlToReadable(slow)).toMatch(/could not be made readable/)
  })
})

test('the cells and rows of a table stay apart', () => {
  const html = '<table><tr><th>Item</th><th>Qty</th><th>Price</th></tr><tr><td>Pens</td><td>1</td><td>200</td></tr></table>'
  expect(htmlToReadable(html)).toBe('Item Qty Price\nPens 1 200')
})
