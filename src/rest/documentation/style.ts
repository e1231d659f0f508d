/**
 * Style of the documentation: one column on a phone, with a sidebar on a desktop, light or dark following the
 * reader's system.
 */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1c2330; --soft: #566175; --ground: #f6f7f9; --card: #fff; --line: #dbe0e8; --link: #2050c8; --code: #eef1f6;
  --get: #0b6b4f; --post: #1f4fc4; --put: #8a4b00; --patch: #7a3ea8; --delete: #b3261e }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #a1abbc; --ground: #11141a; --card: #191e26; --line: #303846; --link: #8fb2ff; --code: #232a35;
  --get: #5fd0a8; --post: #8fb2ff; --put: #f0b266; --patch: #cf9bf2; --delete: #ff9088 } }
* { box-sizing: border-box }
html { scroll-padding-top: 1rem }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif }
a { color: var(--link) }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: .2rem }
header { padding: 2rem 1.25rem 1.25rem; border-bottom: 1px solid var(--line); background: var(--card) }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.2 }
header p { margin: .4rem 0 0; color: var(--soft); overflow-wrap: anywhere }
main { padding: 1.25rem; max-width: 56rem }
h2 { margin: 2.5rem 0 .25rem; font-size: 1.4rem }
h3 { margin: 0 0 .4rem; font-size: 1.1rem; line-height: 1.35 }
h3 a { color: inherit; text-decoration: none }
h3 a:hover { text-decoration: underline }
h4 { margin: 1.1rem 0 .3rem; font-size: .8rem; letter-spacing: .05em; text-transform: uppercase; color: var(--soft) }
p { margin: 0 0 .8rem }
code { font: .875em/1.45 ui-monospace, monospace; background: var(--code); padding: .1em .3em; border-radius: .25rem; overflow-wrap: anywhere }
pre { margin: .4rem 0 0; padding: .9rem; overflow-x: auto; background: var(--code); border-radius: .5rem }
pre code { padding: 0; background: none; overflow-wrap: normal }
.operation { margin: 1rem 0; padding: 1.1rem 1.2rem; background: var(--card); border: 1px solid var(--line); border-radius: .6rem }
.operation:target { border-color: var(--link); box-shadow: 0 0 0 1px var(--link) }
.route code { background: none; padding: 0; font-size: .95em }
.method { display: inline-block; font: 700 .8em ui-monospace, monospace }
.get { color: var(--get) } .post { color: var(--post) } .put { color: var(--put) } .patch { color: var(--patch) } .delete { color: var(--delete) }
ul { margin: 0; padding: 0; list-style: none }
.fields > li { padding: .5rem 0; border-top: 1px solid var(--line) }
.fields > li:first-child { border-top: 0 }
.fields p { margin: 0 }
.name { font-weight: 600 }
.kind, .rules { color: var(--soft); font-size: .9rem }
.required { font-size: .8rem; font-weight: 600; color: var(--delete) }
.rules li { display: inline }
.rules li + li::before { content: ' · ' }
.answers > li { padding: .2rem 0 }
summary { cursor: pointer }
.status { font-weight: 700 }
.s2 { color: var(--get) } .s4 { color: var(--put) } .s5 { color: var(--delete) }
[hidden] { display: none !important }
.search { margin: 0 0 .7rem }
.search input { font: inherit; width: 100%; padding: .35rem .5rem; color: inherit; background: var(--card); border: 1px solid var(--soft); border-radius: .4rem }
.search output { color: var(--soft); font-size: .9rem }
nav { padding: 1rem 1.25rem 0 }
nav a { display: flex; align-items: baseline; gap: .5rem; padding: .25rem 0; color: inherit; text-decoration: none; font-size: .9rem; overflow-wrap: anywhere }
nav a:hover span { text-decoration: underline }
nav .method { flex: none; width: 3.2em }
nav .group { margin-top: .7rem; font-weight: 700 }
.menu { padding: .7rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .6rem }
.rail { display: none }
@media (min-width: 64rem) {
  body { display: grid; grid-template: auto 1fr / 17rem minmax(0, 1fr) }
  header { grid-column: 1 / -1; padding: 2rem 2rem 1.5rem }
  nav { padding: 0; border-right: 1px solid var(--line) }
  .menu { display: none }
  .search { padding: 1rem 1.25rem 0 2rem; margin: 0 }
  .rail { display: block; position: sticky; top: 0; max-height: 100vh; overflow-y: auto; padding: 1rem 1.25rem 2rem 2rem }
  main { padding: 1.5rem 2.5rem 4rem }
}
`
