import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** The day that the evidence of the fictional directory was written for. */
const WRITTEN_FOR = '2026-11-02'
const DAY_MS = 86_400_000

/**
 * Copies the fictional directory with the days of its evidence moved along, so that a measure of last
 * week is always one of last week. A file that is the same already stays untouched: two runs may
 * share the copy.
 */
export function copyDemoContent(from: string, to: string, now: number): void {
  const days = Math.floor((now - Date.parse(WRITTEN_FOR)) / DAY_MS)
  const wanted = new Set(listFiles(from))
  for (const name of listFiles(to)) if (!wanted.has(name)) rmSync(join(to, name), { force: true })
  for (const name of wanted) {
    const text = readFileSync(join(from, name), 'utf8')
    write(to, name, name.startsWith('evidence/') ? moveDays(text, days) : text)
  }
}

/** Versions of protocols are dates too, of other years. */
function moveDays(text: string, days: number): string {
  return text.replace(/\b2026-\d\d-\d\d(?=["T])/g, (day) =>
    new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10),
  )
}

function listFiles(folder: string): string[] {
  mkdirSync(folder, { recursive: true })
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [] : [join(entry.parentPath, entry.name).slice(join(folder, '/').length)],
  )
}

function write(folder: string, name: string, text: string): void {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  // Beside the copy: another run takes what it does not know out of it.
  const temporary = `${folder}.${process.pid}`
  writeFileSync(temporary, text)
  renameSync(temporary, path)
}
