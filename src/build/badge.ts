import type { ListingView } from '../domain/listing-view.ts'

export function renderBadge({ name }: ListingView): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"><title>${name.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)}</title></svg>`
}
