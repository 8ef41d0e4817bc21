import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { lstat, mkdir, open, readdir, readFile, rm, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const RUNNING = 'seeds/.running'
const TEMPORARY = /^\.(\d+)\.tmp$/

/** Writes into a content folder; nobody else does until it is released. */
export interface ContentWriter {
  /** Whole files only: a run that is killed leaves neither half a file nor a stray listing. */
  write(file: string, text: string): Promise<void>
  remove(file: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  release(): Promise<void>
}

/**
 * Takes the content folder for one run, and clears away what a killed run left.
 *
 * @throws Error when another run is writing to it.
 */
export async function openContent(contentDir: string): Promise<ContentWriter> {
  const seeds = join(contentDir, 'seeds')
  await refuseLink(seeds)
  await mkdir(seeds, { recursive: true })
  await takeFolder(join(contentDir, RUNNING))
  for (const name of await readdir(seeds)) if (isAbandoned(name)) await rm(join(seeds, name))
  const temporary = join(seeds, `.${process.pid}.tmp`)
  const known = new Set<string>()
  const prepare = async (folder: string) => {
    if (known.has(folder)) return
    await refuseLink(folder)
    await mkdir(folder, { recursive: true })
    known.add(folder)
  }
  return {
    async write(file, text) {
      const target = join(contentDir, file)
      await prepare(dirname(target))
      // Not awaited file by file: a turn of the event loop costs more than writing two kilobytes.
      writeFileSync(temporary, text)
      renameSync(temporary, target)
    },
    async remove(file) {
      const target = join(contentDir, file)
      await prepare(dirname(target))
      rmSync(target, { force: true })
    },
    async rename(from, to) {
      renameSync(join(contentDir, from), join(contentDir, to))
    },
    async release() {
      await rm(temporary, { force: true })
      await rm(join(contentDir, RUNNING), { force: true })
    },
  }
}

/** A file that names the process: two runs at once would each undo what the other wrote. */
async function takeFolder(file: string): Promise<void> {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const handle = await open(file, 'wx')
      await handle.writeFile(String(process.pid))
      await handle.close()
      return
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    const holder = Number(await readFile(file, 'utf8').catch(() => ''))
    if (holder !== process.pid && isAlive(holder))
      throw new Error(
        `${file}: expected no other run on this content, but process ${holder} is writing; wait for it, or delete the file if that is another program`,
      )
    await unlink(file).catch(() => undefined)
  }
  throw new Error(`${file}: expected no other run on this content`)
}

function isAbandoned(name: string): boolean {
  const [, pid] = TEMPORARY.exec(name) ?? []
  return pid !== undefined && (Number(pid) === process.pid || !isAlive(Number(pid)))
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: there is such a process, only not ours.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** A folder that is a link would carry the write out of the content. */
async function refuseLink(folder: string): Promise<void> {
  const info = await lstat(folder).catch(() => null)
  if (info?.isSymbolicLink()) throw new Error(`${folder}: expected a folder, got a link`)
}
