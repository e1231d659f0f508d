// A link to sign in has its token in the fragment. Takes it out of the address bar and the history, so that nobody
// reads it there, and offers a button: only a click uses the link.
const takeLink = () => {
  const token = location.hash.slice(1)
  if (!token.startsWith('asl_')) return
  history.replaceState(null, '', location.pathname + location.search)
  const form = document.getElementById('link-form')
  form.elements.link.value = token
  form.closest('details').open = true
  document.body.classList.add('has-link')
  form.querySelector('button').focus()
}
addEventListener('hashchange', takeLink)
takeLink()
