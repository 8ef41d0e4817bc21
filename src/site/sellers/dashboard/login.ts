import { onSubmit, partOf } from '../controls/elements.ts'
import { callSellers, mayBeSignedIn, rememberListing } from '../controls/seller-api.ts'

/** Asks for a sign-in link; the answer is the same for known and unknown addresses. */
const form = partOf<HTMLFormElement>(document, 'login')
const wanted = new URLSearchParams(location.search).get('listing')
if (wanted !== null) rememberListing(wanted)
onSubmit(form, async (read) => {
  const email = read('email')
  const answer = await callSellers('POST', 'login', { email })
  partOf(document, 'status').textContent = answer.ok
    ? `A link is on its way to ${email}. It works once, for 15 minutes.`
    : answer.detail
})
if (mayBeSignedIn()) void showSession()

async function showSession(): Promise<void> {
  const me = await callSellers<{ seller: { email: string } }>('GET', 'me')
  if (!me.ok) return
  partOf(document, 'email').textContent = me.body.seller.email
  // In the form's place, which it needs no more: nothing moves.
  partOf(document, 'signed-in').hidden = false
  form.inert = true
}
