import { partOf } from '../controls/elements.ts'
import { callSellers } from '../controls/seller-api.ts'

/** A removal is asked for twice; it can be taken back at any time. */
export function showRemoval(card: HTMLElement, id: string, isRemoved: boolean): void {
  const remove = partOf<HTMLButtonElement>(card, 'remove')
  const restore = partOf<HTMLButtonElement>(card, 'restore')
  const note = partOf(card, 'removal')
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
