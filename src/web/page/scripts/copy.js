// The button that copies what the page shows in its `code`. It is shown where that works.
const button = document.querySelector('[data-copy]')
button.hidden = !navigator.clipboard
button.addEventListener('click', async () => {
  await navigator.clipboard.writeText(document.querySelector('code').textContent)
  button.textContent = 'Copied'
})
