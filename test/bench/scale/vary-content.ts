import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const OWN = join(import.meta.dirname, '../../../content')
/** Of listings that stand on it, each has a copy on another host. */
const ADDRESS = /(https?:\/\/)(?=[a-z\d])/g
/** Of listings that are a package, each copy is another one. */
const PACKAGE = /(?<=^ {4}registry: .*\n {4}identifier: "?)[^\s"]+/gm

/**
 * Writes the project's own content to a folder, with as many listings as are wanted: a part of its own,
 * spread evenly, or all of them and then copies of theirs under other names and on other hosts.
 *
 * @param count null for its own
 * @returns how many there are
 */
export function varyContent(contentDir: string, count: number | null): number {
  cpSync(OWN, contentDir, { recursive: true })
  const folder = join(contentDir, 'listings')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .sort()
  const wanted = count ?? files.length
  if (wanted < files.length) {
    const kept = new Set(files.filter((_, at) => (at * wanted) % files.length < wanted))
    for (const file of files) if (!kept.has(file)) rmSync(join(folder, file))
    return kept.size
  }
  for (let made = files.length; made < wanted; made += 1) {
    const file = files[made % files.length] ?? ''
    const round = Math.floor(made / files.length)
    const text = readFileSync(join(folder, file), 'utf8')
    const path = join(folder, dirname(file), `${basename(file, '.md')}-s${round}.md`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, toCopy(text, round))
  }
  return wanted
}

/** Where an importer names the sources of the original, its own pages are those of the copy. */
function toCopy(text: string, round: number): string {
  const named = text.replace(/^name: "?(.*?)"?$/m, `name: "$1 ${round}"`)
  const sourced = /^sources:/m.test(text)
    ? named
    : named.replace(/^url: (.*)$/m, '$&\nsources: [{ source: vendor_docs, ref: $1 }]')
  return sourced.replace(ADDRESS, `$1s${round}.`).replace(PACKAGE, (name) => `${name}-s${round}`)
}
