import { callSellers, mayBeSignedIn, rememberListing } from '../controls/seller-api.ts'

/** Asks for a sign-in link; the answer is the same for known and unknown addresses. */
const form = document.querySelector<HTMLFormElement>('[data-login]')
const status = document.querySelector<HTMLElement>('[data-status]')
const wanted = new URLSearchParams(location.search).get('listing')
if (wanted !== null) rememberListing(wanted)

form?.addEventListener('submit', (event) => {
  event.preventDefault()
  void send(form)
})
if (mayBeSignedIn()) void showSession()

async function send(form: HTMLFormElement): Promise<void> {
  const email = String(new FormData(form).get('email') ?? '')
  const button = form.querySelector('button')
  if (button !== null) button.disabled = true
  const answer = await callSellers('POST', 'login', { email })
  if (button !== null) button.disabled = false
  if (status === null) return
  status.textContent = answer.ok
    ? `A link is on its way to ${email}. It works once, for 15 minutes.`
    : answer.detail
}

async function showSession(): Promise<void> {
  const me = await callSellers<{ seller: { email: string } }>('GET', 'me')
  const note = document.querySelector<HTMLElement>('[data-signed-in]')
  if (!me.ok || note === null) return
  const email = note.querySelector('[data-email]')
  if (email !== null) email.textContent = me.body.seller.email
  // In the form's place, which it needs no more: nothing moves.
  note.hidden = false
  if (form !== null) form.inert = true
}
