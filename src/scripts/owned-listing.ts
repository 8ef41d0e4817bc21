import type { ListingView } from '../domain/views/listing-view.ts'
import { callSellers } from './seller-api.ts'

type Listing = Pick<ListingView, 'name' | 'tiers'>

/** What the owner of a listing can do with it on the dashboard: embed its badge, take it out, bring it back. */
export async function showOwnedListing(card: HTMLElement, id: string): Promise<void> {
  const owned = card.querySelector<HTMLElement>('[data-owned]')
  if (owned === null) return
  const listing = await readListing(id)
  if (listing !== null) showBadge(card, id, listing)
  showRemoval(card, id, listing === null)
  owned.hidden = false
}

/** Null when the directory does not have it, as after a removal. */
async function readListing(id: string): Promise<Listing | null> {
  const response = await fetch(`/api/v1/listings/${id}`).catch(() => null)
  if (response === null || !response.ok) return null
  const listing: Listing = await response.json()
  return listing
}

function showBadge(card: HTMLElement, id: string, { name, tiers }: Listing): void {
  const badge = card.querySelector<HTMLElement>('[data-badge]')
  const image = badge?.querySelector('img')
  const code = badge?.querySelector('code')
  const link = card.querySelector('[data-listing]')
  if (badge === null || image == null || code == null) return
  if (link !== null) link.textContent = name
  image.src = `/badge/${id}.svg`
  image.alt = `Waypost badge of ${name}`
  code.textContent = tiers.embed_markdown
  badge.hidden = false
}

/** A removal is asked for twice; it can be taken back at any time. */
function showRemoval(card: HTMLElement, id: string, isRemoved: boolean): void {
  const remove = card.querySelector<HTMLButtonElement>('[data-remove]')
  const restore = card.querySelector<HTMLButtonElement>('[data-restore]')
  const note = card.querySelector<HTMLElement>('[data-removal]')
  if (remove === null || restore === null || note === null) return
  const show = (removed: boolean) => {
    remove.hidden = removed
    remove.textContent = 'Remove this listing'
    restore.hidden = !removed
  }
  const send = async (removed: boolean) => {
    const answer = await callSellers('POST', 'opt-out', { listing_id: id, removed })
    if (answer.ok) show(removed)
    note.textContent = answer.ok ? toNote(removed) : answer.detail
  }
  show(isRemoved)
  if (isRemoved) note.textContent = 'This listing is not in the directory.'
  let isAsked = false
  remove.addEventListener('click', () => {
    if (isAsked) void send(true)
    else remove.textContent = 'Yes, remove it'
    isAsked = !isAsked
  })
  restore.addEventListener('click', () => void send(false))
}

function toNote(removed: boolean): string {
  return removed
    ? 'It leaves the directory at the next build, and importers do not bring it back.'
    : 'It stays in the directory, or returns to it at the next build.'
}
