import { cpSync, readFileSync, readlinkSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { FIXTURE_ENV } from './fixture-env.ts'

/** Copies the fixture release into `outDir/<name>`, where a test may do with it what it likes. */
export function copyRelease(outDir: string, name: string): string {
  const fixture = resolve(FIXTURE_ENV.OUT_DIR)
  const dir = join(outDir, name)
  cpSync(join(fixture, readlinkSync(join(fixture, 'current'))), dir, { recursive: true })
  const file = join(dir, 'data/release.json')
  const release: object = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...release, name }))
  return dir
}

/** Switches `outDir/current` to a folder in it. */
export function switchRelease(outDir: string, name: string): void {
  symlinkSync(name, join(outDir, 'next'))
  renameSync(join(outDir, 'next'), join(outDir, 'current'))
}
