import { onClick, partOf } from '../controls/elements.ts'
import { callSellers } from '../controls/seller-api.ts'

/** The button that uses the link up. The token leaves the address bar before anything else runs. */
const token = new URLSearchParams(location.search).get('token') ?? ''
history.replaceState(null, '', location.pathname)
if (token === '') fail('This address carries no sign-in token. Open the link from your email.')
onClick(document, 'sign-in', async () => {
  const answer = await callSellers('POST', 'session', { token })
  if (answer.ok) location.assign('/sellers/dashboard')
  else fail(answer.detail)
})

function fail(detail: string): void {
  partOf(document, 'detail').textContent = detail
  partOf(document, 'problem').hidden = false
}
