import { rewriteText } from '../rewrite-text.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { ScaleRow } from './scale-row.ts'

/**
 * A row that stands for a listing nobody has yet: the shape of a real one, its name and words partly
 * those of others, its addresses and packages its own.
 *
 * @param round how often the rows were gone through before, at least once
 */
export function varyRow(
  row: ScaleRow,
  { round, words, random }: { round: number; words: readonly string[]; random: SeededRandom },
): ScaleRow {
  const { name, title, description } = row
  const isNamed = (text: string | null) => text !== null && text !== ''
  const moved = (url: string | null) => url?.replace(/^(https?:\/\/)/, `$1s${round}.`) ?? null
  return {
    ...row,
    name: isNamed(name) ? `${name} ${round}` : name,
    title: isNamed(title) ? `${title} ${round}` : title,
    description: isNamed(description) ? rewriteText(description ?? '', words, random) : description,
    url: moved(row.url),
    repository: moved(row.repository),
    // Endpoints are objects of several shapes; each has an address somewhere.
    remotes: JSON.parse(JSON.stringify(row.remotes).replace(/"(https?:\/\/)/g, `"$1s${round}.`)),
    packages: row.packages.map((each) => ({
      ...each,
      identifier: each.identifier === null ? null : `${each.identifier}-${round}`,
    })),
  }
}
