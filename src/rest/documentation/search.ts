/**
 * The search: shows only the operations and objects that contain all words. The field appears with the
 * script; without scripts the page is complete, and the browser's own search works.
 */
export const SEARCH = `
const field = document.getElementById('search')
const found = document.getElementById('found')
const parts = [...document.querySelectorAll('section.operation')].map((section) => ({ section, text: section.textContent.toLowerCase() }))
const groups = [...document.querySelectorAll('section.tag')]
const links = [...document.querySelectorAll('nav li li a')]
const search = () => {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean)
  const shown = new Set()
  for (const { section, text } of parts) {
    section.hidden = !words.every((word) => text.includes(word))
    if (!section.hidden) shown.add('#' + section.id)
  }
  for (const group of groups)
    group.hidden = words.length > 0 && !group.querySelector('section.operation:not([hidden])')
  for (const link of links) link.parentElement.hidden = !shown.has(link.getAttribute('href'))
  for (const item of document.querySelectorAll('nav li:has(li)'))
    item.hidden = !item.querySelector('li:not([hidden])')
  found.textContent = words.length === 0 ? '' : shown.size === 1 ? '1 result' : shown.size + ' results'
}
field.addEventListener('input', search)
addEventListener('hashchange', () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!target?.closest('[hidden]')) return
  field.value = ''
  search()
  target.scrollIntoView()
})
field.closest('[hidden]').hidden = false
search()
`
