import { readFileSync } from 'node:fs'

/** The values of a file of one JSON value a line. */
export function readJsonLines<Line>(file: string): Line[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line))
}
