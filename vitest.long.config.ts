import { globSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

process.env.LONG_TESTS = '1'

/** What `npm test` leaves out: whole files by their names, rows of others by what they import. */
const isLong = (file: string) =>
  file.endsWith('.long.test.ts') ||
  /(?:support\/(?:long|stores)\.ts|thousand-listings\.ts|fast-check)'/.test(
    readFileSync(file, 'utf8'),
  )
const include = globSync('test/**/*.test.ts', { exclude: ['**/node_modules/**'] }).filter(isLong)

export default defineConfig({ test: { ...config.test, include, exclude: [], maxWorkers: 2 } })
