import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { readCommandLine, runMain, wrongCommand } from '../ports/run-main.ts'

/** A new directory's files: site table, tables without rows, a guide, examples to copy and a README. */
const TEMPLATE = fileURLToPath(new URL('./new', import.meta.url))
/** JSON Schemas for code editors, which look for them next to the content. */
const SCHEMAS = fileURLToPath(new URL('../../content/schema', import.meta.url))

const HELP = 'Usage: npm run new -- <folder> [--name "Acme Services"]'

/** `npm run new`: creates the content of a new directory. */
export async function createDirectory(args: readonly string[]): Promise<void> {
  const { values, words } = readCommandLine(HELP, { name: { type: 'string' } } as const, 1, args)
  const [given] = words
  if (given === undefined) throw wrongCommand(HELP, 'expected a folder')
  const folder = resolve(given)
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new OperatorError(`${folder}: expected a new or empty folder`)
  const name = values.name ?? toTitle(basename(folder))
  await writeDirectory(folder, name, new Date().toISOString().slice(0, 10))
  console.log(
    `Wrote ${name} to ${folder}. Its README.md explains the next steps; first:\n  CONTENT_DIR=${relative('.', folder) || '.'} npm run check`,
  )
}

async function writeDirectory(folder: string, name: string, date: string): Promise<void> {
  const short_name = /[A-Za-z][A-Za-z0-9]{0,19}/.exec(name)?.[0] ?? 'Directory'
  const slug = short_name.toLowerCase()
  const values = { name, short_name, slug, date, folder: relative('.', folder) || '.' }
  for (const entry of readdirSync(TEMPLATE, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const from = join(entry.parentPath, entry.name)
    const to = join(folder, relative(TEMPLATE, from))
    const text = Object.entries(values).reduce(
      (filled, [key, value]) =>
        filled.replaceAll(`{{${key}}}`, () =>
          key === 'name' && to.endsWith('.yaml') ? JSON.stringify(value) : value,
        ),
      readFileSync(from, 'utf8'),
    )
    await mkdir(dirname(to), { recursive: true })
    await writeFile(to, text)
  }
  await cp(SCHEMAS, join(folder, 'schema'), { recursive: true })
}

/** @example toTitle('acme-services') → 'Acme Services' */
function toTitle(folder: string): string {
  const words = folder.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const title = words.map((word) => `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`).join(' ')
  return title === '' ? 'Directory' : title
}

if (import.meta.main) await runMain(() => createDirectory(process.argv.slice(2)))
