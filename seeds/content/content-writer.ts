import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { takeFileLock } from '../../functions/store/lock.ts'

/** Locked while a run writes: two at once would undo each other's changes. */
const RUNNING = 'sources/.running'

/** Writes into a content folder; nobody else does until it is released. */
export interface ContentWriter {
  /** Whole files only: a run that is killed leaves neither half a file nor a stray listing. */
  write(file: string, text: string): Promise<void>
  remove(file: string): Promise<void>
  release(): Promise<void>
}

/**
 * Takes the content folder for one run, and cleans up after a killed one.
 *
 * @throws Error when another run is writing to it.
 */
export async function openContent(contentDir: string): Promise<ContentWriter> {
  const sources = join(contentDir, 'sources')
  await refuseLink(sources)
  await mkdir(sources, { recursive: true })
  const running = join(contentDir, RUNNING)
  const lock = takeFileLock(running)
  if (lock === null)
    throw new Error(`${running}: expected no other run on this content; wait until it is done`)
  const abandoned = (await readdir(sources)).filter((name) => /^\.\d+\.tmp$/.test(name))
  for (const name of abandoned) await rm(join(sources, name))
  const temporary = join(sources, `.${process.pid}.tmp`)
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
      // Synchronous: a turn of the event loop costs more than writing two kilobytes.
      writeFileSync(temporary, text)
      renameSync(temporary, target)
    },
    async remove(file) {
      const target = join(contentDir, file)
      await prepare(dirname(target))
      rmSync(target, { force: true })
    },
    async release() {
      await rm(temporary, { force: true })
      await rm(running, { force: true })
      lock.release()
    },
  }
}

/** A folder that is a link would carry the write out of the content. */
async function refuseLink(folder: string): Promise<void> {
  const info = await lstat(folder).catch(() => null)
  if (info?.isSymbolicLink()) throw new Error(`${folder}: expected a folder, got a link`)
}

/** Does one thing in the content while no importer writes. */
export async function withContent<Result>(
  contentDir: string,
  work: (writer: ContentWriter) => Promise<Result>,
): Promise<Result> {
  const writer = await openContent(contentDir)
  try {
    return await work(writer)
  } finally {
    await writer.release()
  }
}
