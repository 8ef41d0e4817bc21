import { readFileSync } from 'node:fs'

/** One instruction of a Dockerfile, its continued lines joined. */
export interface Step {
  name: string
  rest: string
}

export interface Stage {
  name: string
  steps: Step[]
}

/** The stages of the project's own Dockerfile: no escapes, no here-documents, one FROM a stage. */
export function readDockerfile(path = 'Dockerfile'): Stage[] {
  const stages: Stage[] = []
  const text = readFileSync(path, 'utf8').replaceAll('\\\n', ' ')
  for (const line of text.split('\n')) {
    const [, name = '', rest = ''] = /^([A-Z]+) +(.+)$/.exec(line) ?? []
    if (name === 'FROM') stages.push({ name: / AS (\w+)/.exec(rest)?.[1] ?? '', steps: [] })
    else if (name !== '') stages.at(-1)?.steps.push({ name, rest })
  }
  return stages
}

/** The words of a CMD in its JSON form, with the health check's options before it left out. */
export function toCommand(rest: string): string[] {
  const words: unknown = JSON.parse(rest.slice(rest.indexOf('[')))
  if (!Array.isArray(words)) throw new Error(`expected a command in JSON form, got ${rest}`)
  return words.map(String)
}
