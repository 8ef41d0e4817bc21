import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Draws } from './random.ts'

/** A small edit as a maintainer or a machine makes it; says what it did. */
type Edit = (content: string, random: Draws) => string

/** Listings that comparisons and tables name: they may change, and must not go. */
const NAMED = /a2a\/planner|tide-tables|weather|ghost-clicks|tenki|-steps/

const PROJECT_TABLES = 'content/tables'

export const EDITS: Record<string, Edit> = {
  'a changed summary': (content, random) =>
    editListing(content, random, (text, word) =>
      text.replace(/^summary: .*$/m, `summary: Reworded ${word}.`),
    ),
  'a changed name': (content, random) =>
    editListing(content, random, (text, word) => text.replace(/^name: .*$/m, `name: ${word}`)),
  'a longer description': (content, random) =>
    editListing(content, random, (text, word) => `${text}\nAlso ${word}, with *care*.\n`),
  'an added listing'(content, random) {
    const from = random.pick(listFiles(content, 'listings').filter((file) => !/kit\//.test(file)))
    const word = toWord(random)
    const to = from.replace(/[^/]+\.md$/, `${word}.md`)
    const text = readFileSync(join(content, from), 'utf8')
    writeFileSync(
      join(content, to),
      text
        .replace(/^name: .*$/m, `name: ${word}`)
        .replaceAll(/https:\/\/(\w+)/g, `https://${word}-$1`),
    )
    return to
  },
  'a removed listing'(content, random) {
    const file = random.pick(listFiles(content, 'listings').filter((name) => !NAMED.test(name)))
    rmSync(join(content, file))
    rmSync(join(content, file.replace('listings', 'evidence').replace(/md$/, 'json')), {
      force: true,
    })
    return file
  },
  'changed evidence'(content, random) {
    const file = random.pick(listFiles(content, 'evidence'))
    edit(content, file, (text) =>
      text.replaceAll(/("(?:uptime_30d|p95_ms|settlements_30d)": )\d+/g, `$1${random.below(90)}`),
    )
    return file
  },
  'a changed table'(content, random) {
    const file = 'tables/sources.yaml'
    if (!existsSync(join(content, file)))
      copyFileSync(join(PROJECT_TABLES, 'sources.yaml'), join(content, file))
    edit(content, file, (text) => text.replace(/name: .*$/m, `name: ${toWord(random)}`))
    return file
  },
  'a changed banner'(content, random) {
    const file = 'tables/site.yaml'
    edit(content, file, (text) => `banner: ${toWord(random)}\n${text.replace(/^banner: .*\n/, '')}`)
    return file
  },
}

function editListing(
  content: string,
  random: Draws,
  change: (text: string, word: string) => string,
): string {
  const file = random.pick(listFiles(content, 'listings'))
  edit(content, file, (text) => change(text, toWord(random)))
  return file
}

function edit(content: string, file: string, change: (text: string) => string): void {
  const path = join(content, file)
  const text = change(readFileSync(path, 'utf8'))
  // Tables of the fixture are links to the project's own, which must stay as they are.
  rmSync(path)
  writeFileSync(path, text)
}

function toWord(random: Draws): string {
  return Array.from({ length: 8 }, () => random.pick([...'bcdfghklmnoprstu'])).join('')
}

function listFiles(content: string, folder: string): string[] {
  return readdirSync(join(content, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(content.length + 1))
    .sort()
}
