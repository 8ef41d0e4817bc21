/** The code for a call is loaded when somebody wants to try it. */
for (const button of document.querySelectorAll<HTMLElement>('[data-try]'))
  button.addEventListener('click', async (event) => {
    event.preventDefault()
    const { openTry } = await import('./try-it.ts')
    await openTry(button)
  })
