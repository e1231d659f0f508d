// Forms with a passkey: the browser's answer to the options in `data-passkey` is submitted in the field `answer`.
const ask = {
  create: async (options) =>
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  get: async (options) =>
    navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
}

const submit = async (form) => {
  const problem = form.querySelector('[role=alert]')
  problem.textContent = ''
  try {
    const credential = await ask[form.dataset.passkey](JSON.parse(form.dataset.options))
    form.elements.answer.value = JSON.stringify(credential.toJSON())
    form.submit()
  } catch (error) {
    problem.textContent =
      error.name === 'InvalidStateError'
        ? 'This device already has a passkey for you.'
        : 'No passkey was used. Try again, or sign in another way.'
  }
}

const supported = window.PublicKeyCredential?.parseCreationOptionsFromJSON !== undefined
for (const form of document.querySelectorAll('form[data-passkey]')) {
  if (!supported) continue
  form.hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void submit(form)
  })
}
