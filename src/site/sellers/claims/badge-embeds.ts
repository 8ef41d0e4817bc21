import type { TiersView } from '../../../domain/views/tiers-view.ts'

/** A badge, ready to paste into a page of one's own. */
export interface BadgeEmbed {
  id: 'markdown' | 'html' | 'rst'
  label: string
  code: string
}

/**
 * The badge of a listing in the three languages that READMEs are written in. A name is foreign text:
 * in none of them may it become markup.
 */
export function toBadgeEmbeds(
  name: string,
  { badge_svg, page, embed_markdown }: Pick<TiersView, 'badge_svg' | 'page' | 'embed_markdown'>,
): BadgeEmbed[] {
  const alt = `${name} on Waypost`
  return [
    { id: 'markdown', label: 'Markdown', code: embed_markdown },
    {
      id: 'html',
      label: 'HTML',
      code: `<a href="${page}"><img src="${badge_svg}" alt="${escapeHtml(alt)}" height="20"></a>`,
    },
    {
      id: 'rst',
      label: 'reStructuredText',
      // An option's value is plain text to docutils as long as it stays on its line.
      code: `.. image:: ${badge_svg}\n   :target: ${page}\n   :alt: ${alt.replace(/\s+/g, ' ')}`,
    },
  ]
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
}
